import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { ChatMessage, Erased, Id, MatchSummary, Nullable, Timestamp } from './schemas.ts'

const MatchType = Type.Enum(['LIKE', 'WORKOUT_BUDDY'])
const both = Type.Array(Id, { minItems: 2, maxItems: 2 })

/** A like that the receiver has not answered yet. */
export const LikeReceived = defineEvent(
  'fitmatch.like.received.v1',
  Type.Object({
    accountId: Id,
    swipeType: MatchType,
    /** Null where the receiver's tier does not show who it is. */
    likedBy: Nullable(Id),
    /** Of `likedBy`, as FitMatch shows them: without a match, the receiver learns neither the account nor its name. */
    displayName: Type.Optional(Nullable(Type.String())),
    profileId: Type.Optional(Nullable(Id))
  })
)

export const MatchMade = defineEvent(
  'fitmatch.match.made.v1',
  Type.Object({
    matchId: Id,
    accountIds: both,
    /** How FitMatch shows the two, in the order of `accountIds`. */
    displayNames: Type.Optional(Type.Array(Type.String(), { minItems: 2, maxItems: 2 })),
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

export const ReportResolved = defineEvent(
  'fitmatch.report.resolved.v1',
  Type.Object({
    reportId: Id,
    reporterId: Id,
    action: Type.Enum(['DISMISS', 'SUSPEND', 'RESTORE'])
  })
)

/** The profile was removed from FitMatch, or restored. */
export const SuspensionChanged = defineEvent(
  'fitmatch.suspension.changed.v1',
  Type.Object({ accountId: Id, suspended: Type.Boolean() })
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
    }))
  })
})

export const FitMatchAccountErased = defineEvent('fitmatch.account.erased.v1', Erased)

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
