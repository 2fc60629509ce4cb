import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import {
  CaseDescription,
  ChatMessage,
  Day,
  Erased,
  Id,
  MatchSummary,
  Nullable,
  Outcome,
  Timestamp,
  erasureCheck,
  moderation,
  personalData,
  reportOfPerson
} from './schemas.ts'

const MatchType = Type.Enum(['LIKE', 'WORKOUT_BUDDY'])
const both = Type.Array(Id, { minItems: 2, maxItems: 2 })

/** A like that the receiver has not answered yet. It is published again if it becomes one of another type. */
export const LikeReceived = defineEvent(
  'fitmatch.like.received.v1',
  Type.Object({
    accountId: Id,
    swipeType: MatchType,
    /** Null where the receiver's tier does not show who it is. */
    likedBy: Nullable(Id),
    /** Of `likedBy`, as FitMatch shows them: without a match, the receiver learns neither the account nor its name. */
    displayName: Type.Optional(Nullable(Type.String())),
    profileId: Type.Optional(Nullable(Id)),
    /** Who it is, whatever the receiver's tier: to withdraw it. The receiver must not learn it from here. */
    likerId: Type.Optional(Id)
  })
)

/**
 * Likes of a person no longer wait for an answer: the person changed their mind, or the receiver answered. Without
 * receivers it is about all of their likes, because their profile was paused.
 */
export const LikesWithdrawn = defineEvent(
  'fitmatch.likes.withdrawn.v1',
  Type.Object({ likerId: Id, receiverIds: Nullable(Type.Array(Id, { minItems: 1 })) })
)

/** Until when a subscription unlocks something in FitMatch, as its newest consumed event says; null without one. */
export const Tier = defineRpc('fitmatch.tier.v1', {
  request: Type.Object({ accountId: Id }),
  response: Type.Object({ subscribedUntil: Nullable(Timestamp) })
})

/** A profile was deleted, with the likes that it gave and got. Its matches, places and buddies end with events of their own. */
export const ProfileDeleted = defineEvent('fitmatch.profile.deleted.v1', Type.Object({ accountId: Id }))

export const MatchMade = defineEvent(
  'fitmatch.match.made.v1',
  Type.Object({
    matchId: Id,
    accountIds: both,
    /** How FitMatch shows the two, in the order of `accountIds`. */
    displayNames: Type.Optional(Type.Array(Type.String(), { minItems: 2, maxItems: 2 })),
    /** Their profiles, in the same order: each learns nothing of the other's account. */
    profileIds: Type.Optional(both),
    matchType: MatchType
  })
)

/** The two were unmatched, or one blocked the other. */
export const MatchEnded = defineEvent('fitmatch.match.ended.v1', Type.Object({ matchId: Id, accountIds: both }))

export const MessageSent = defineEvent(
  'fitmatch.message.sent.v1',
  Type.Object({
    matchId: Id,
    messageId: Id,
    senderId: Id,
    /** How FitMatch shows the sender. */
    senderName: Type.Optional(Type.String()),
    senderProfileId: Type.Optional(Id),
    recipientId: Id,
    hasImage: Type.Boolean()
  })
)

/** A participant has read messages of the other. Very many messages are split over several events. */
export const MessagesRead = defineEvent(
  'fitmatch.messages.read.v1',
  Type.Object({
    matchId: Id,
    readerId: Id,
    /** The other participant, who sent them. */
    senderId: Type.Optional(Id),
    messageIds: Type.Array(Id, { minItems: 1 })
  })
)

/** From now on the two do not see each other anywhere. */
export const PersonBlocked = defineEvent('fitmatch.person.blocked.v1', Type.Object({ blockerId: Id, blockedId: Id }))
export const PersonUnblocked = defineEvent(
  'fitmatch.person.unblocked.v1',
  Type.Object({ blockerId: Id, blockedId: Id })
)

export const VerificationDecided = defineEvent(
  'fitmatch.verification.decided.v1',
  Type.Object({
    accountId: Id,
    approved: Type.Boolean(),
    reason: Nullable(Type.String())
  })
)

/** The approval of an account's photos does not hold any more, because the main photo changed. */
export const VerificationRevoked = defineEvent('fitmatch.verification.revoked.v1', Type.Object({ accountId: Id }))

export const ReportResolved = defineEvent(
  'fitmatch.report.resolved.v1',
  Type.Object({
    reportId: Id,
    reporterId: Id,
    action: Type.Enum(['DISMISS', 'SUSPEND', 'RESTORE']),
    /** Of a report that was decided in a case. */
    outcome: Type.Optional(Outcome)
  })
)

/** The profile was removed from FitMatch, or restored. */
export const SuspensionChanged = defineEvent(
  'fitmatch.suspension.changed.v1',
  Type.Object({
    accountId: Id,
    suspended: Type.Boolean(),
    /** The case of the reports that suspended it without a person's decision. */
    automatedCaseId: Type.Optional(Id),
    /** Whether identity decided it, and informs the person. */
    isDecision: Type.Optional(Type.Boolean())
  })
)

/** An operator used privileged access. Identity stores it in the security log. */
export const OperatorActed = defineEvent(
  'fitmatch.operator.acted.v1',
  Type.Object({
    accountId: Id,
    sessionId: Id,
    /** An IPv4 /24 or IPv6 /48. */
    network: Type.String(),
    requestId: Type.String(),
    /** `SELFIE_READ`, `VERIFICATION_APPROVE`, `REPORT_SUSPEND` and the like. */
    action: Type.String(),
    /** The verification or report; null for a list of them. */
    subjectId: Nullable(Id)
  })
)

const buddyRequest = { requestId: Id, fromAccountId: Id, toAccountId: Id }

/** Somebody asks another person to be their sport buddy. */
export const BuddyRequested = defineEvent(
  'fitmatch.buddy.requested.v1',
  Type.Object({ ...buddyRequest, sport: Type.String() })
)
export const BuddyAccepted = defineEvent(
  'fitmatch.buddy.accepted.v1',
  Type.Object({ ...buddyRequest, sport: Type.String() })
)

/** A request is void before it was answered. Its notification is obsolete. */
export const BuddyRequestWithdrawn = defineEvent('fitmatch.buddy.withdrawn.v1', Type.Object(buddyRequest))

/** The receiver refused a request. Its sender must not learn it. */
export const BuddyRequestDeclined = defineEvent('fitmatch.buddy.declined.v1', Type.Object(buddyRequest))

/** Two people are no longer buddies. */
export const BuddiesEnded = defineEvent('fitmatch.buddies.ended.v1', Type.Object({ accountIds: both }))

/** A badge that describes how something is was taken back, because it is no longer so. */
export const BadgeRevoked = defineEvent(
  'fitmatch.badge.revoked.v1',
  Type.Object({ accountId: Id, badge: Type.String() })
)

export const BadgeEarned = defineEvent('fitmatch.badge.earned.v1', Type.Object({ accountId: Id, badge: Type.String() }))

/** The FitMatch part of the home screen: at most ten matches, newest first. */
export const FitMatchOverview = defineRpc('fitmatch.overview.v1', {
  request: Type.Object({ accountId: Id }),
  response: Type.Object({
    hasProfile: Type.Boolean(),
    status: Nullable(Type.Enum(['ACTIVE', 'PAUSED', 'SUSPENDED'])),
    discoverTutorialSeen: Type.Boolean(),
    matches: Type.Array(Type.Object({
      matchId: Id,
      profileId: Id,
      displayName: Type.String(),
      photo: Nullable(Type.String()),
      matchedAt: Timestamp
    })),
    /** The next activities of the coming 14 days that the person goes to: at most ten, the first one first. */
    upcomingActivities: Type.Optional(Type.Array(Type.Object({
      id: Id,
      title: Type.String(),
      sport: Type.String(),
      date: Day,
      startTime: Type.String(),
      endTime: Type.String(),
      locationName: Type.String()
    })))
  })
})

export const FitMatchAccountErased = defineEvent('fitmatch.account.erased.v1', Erased)
export const FitMatchPersonalData = defineRpc('fitmatch.personal-data.v1', personalData)
export const FitMatchErasureCheck = defineRpc('fitmatch.erasure-check.v1', erasureCheck)

/**
 * What realtime frames show of matches and messages, in the order of the request. An entry is null if the account
 * cannot see the match or the message now, by the rules of the chat routes.
 */
export const RealtimeDetails = defineRpc('fitmatch.realtime-details.v1', {
  request: Type.Object({
    items: Type.Array(Type.Object({ accountId: Id, matchId: Id, messageId: Nullable(Id) }), { maxItems: 100 })
  }),
  response: Type.Array(Nullable(Type.Object({
    match: MatchSummary,
    /** Null if no message was asked for. */
    message: Nullable(ChatMessage),
    /** Of the account's own message. */
    clientMessageId: Nullable(Type.String()),
    chatUnreadCount: Type.Integer({ minimum: 0 })
  })))
})

/** The cases about a person, and what came of their reports, for operators. */
export const FitMatchModeration = defineRpc('fitmatch.moderation.v1', moderation)

/** What came of a person's own report; null if there is none of theirs. */
export const FitMatchReport = defineRpc('fitmatch.report.v1', reportOfPerson)

/** A case of this service; null if there is none. */
export const FitMatchCase = defineRpc('fitmatch.case.v1', {
  request: Type.Object({ caseId: Id }),
  response: Nullable(CaseDescription)
})

/** This service has carried out a decision. */
export const FitMatchDecisionApplied = defineEvent('fitmatch.decision.applied.v1', Type.Object({ decisionId: Id }))
