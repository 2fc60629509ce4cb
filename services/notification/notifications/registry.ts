import {
  AchievementEarned,
  BadgeEarned,
  BuddyAccepted,
  BuddyRequestAccepted,
  BuddyRequestCreated,
  BuddyRequested,
  CommentReplied,
  ContentReportResolved,
  DecisionMade,
  FastFinished,
  FastingTimerFinished,
  LevelReached,
  LikeReceived,
  MatchMade,
  MeetingAsked,
  MeetingContactNotTold,
  MeetingContactTold,
  MeetingDisarmed,
  MeetingEnded,
  MessageSent,
  PasswordChanged,
  PeopleMentioned,
  PersonFollowed,
  PostCommented,
  ProviderLinked,
  RecordSet,
  ReportResolved,
  ReservationConfirmed,
  ReservationReminded,
  SessionStarted,
  StoryReacted,
  SuspensionChanged,
  VerificationDecided
} from '@tandem/contracts'
import { activityEntries } from './activities.ts'
import { onEvent, type RegistryEntry } from './registry-entry.ts'

/** Every event that creates notifications, except likes of posts (likes/) and broadcasts (broadcasts/). */
export const registry: RegistryEntry[] = [
  ...activityEntries,
  onEvent(PeopleMentioned, ({ postId, commentId, authorId, mentioned, excerpt }) => [{
    kind: commentId ? 'commentMentioned' : 'postMentioned',
    // The key of a comment is shared: the post's author who is also replied to and mentioned gets one notification.
    dedupeKey: commentId ? `comment:${commentId}` : `mention:${postId}`,
    to: mentioned,
    actorId: authorId,
    subjectId: postId,
    data: { postId, ...commentId && { commentId } },
    params: { excerpt }
  }]),
  onEvent(PostCommented, ({ postId, commentId, authorId, commentedBy, excerpt }) => [{
    kind: 'postCommented',
    dedupeKey: `comment:${commentId}`,
    to: [authorId],
    actorId: commentedBy,
    subjectId: postId,
    data: { postId, commentId },
    params: { excerpt }
  }]),
  onEvent(CommentReplied, ({ postId, commentId, parentId, parentAuthorId, repliedBy, excerpt }) => [{
    kind: 'commentReplied',
    dedupeKey: `comment:${commentId}`,
    to: [parentAuthorId],
    actorId: repliedBy,
    subjectId: postId,
    data: { postId, commentId, parentId },
    params: { excerpt }
  }]),
  onEvent(PersonFollowed, ({ followerId, followedId }) => [{
    kind: 'followed',
    dedupeKey: followKey(followerId),
    to: [followedId],
    actorId: followerId,
    data: { userId: followerId }
  }]),
  onEvent(StoryReacted, ({ storyId, authorId, reactedBy, emoji }) => [{
    kind: 'storyReacted',
    dedupeKey: reactionKey(storyId, reactedBy),
    to: [authorId],
    actorId: reactedBy,
    data: { storyId },
    params: { emoji }
  }]),

  onEvent(MessageSent, ({ matchId, messageId, senderId, senderName = null, recipientId, hasImage }) => [{
    kind: 'messageReceived',
    dedupeKey: messageKey(messageId),
    to: [recipientId],
    actorId: senderId,
    subjectId: matchId,
    data: { matchId, messageId },
    params: { hasImage, displayName: senderName }
  }]),
  onEvent(LikeReceived, ({ accountId, swipeType, likedBy, displayName = null, profileId }, id) => [{
    kind: 'likeReceived',
    dedupeKey: `like:${likedBy ?? id}`,
    to: [accountId],
    actorId: likedBy,
    ...profileId && { data: { profileId } },
    params: { swipeType, displayName }
  }]),
  onEvent(MatchMade, ({ matchId, accountIds, displayNames, matchType }) =>
    accountIds.map((accountId, number) => ({
      kind: 'matchMade' as const,
      dedupeKey: matchKey(matchId),
      to: [accountId],
      actorId: accountIds.find((each) => each !== accountId) ?? null,
      subjectId: matchId,
      data: { matchId },
      params: { matchType, displayName: displayNames?.[1 - number] ?? null }
    }))),
  onEvent(VerificationDecided, ({ accountId, approved, reason }, id) => [{
    kind: 'verificationDecided',
    dedupeKey: `verification:${id}`,
    to: [accountId],
    params: { approved: String(approved), reason: reason ?? 'none' }
  }]),
  onEvent(ReportResolved, ({ reportId, reporterId, action, outcome }) => [{
    kind: 'reportResolved',
    // After an appeal the outcome can be another one.
    dedupeKey: `report:${reportId}:${outcome ?? action}`,
    to: [reporterId],
    data: { reportId },
    params: { action: outcome ?? action }
  }]),
  onEvent(
    SuspensionChanged,
    (
      { accountId, suspended, automatedCaseId, isDecision },
      id
    ) =>
      // Identity informs people of decisions, with the reasons.
      automatedCaseId !== undefined || isDecision
        ? []
        : [{ kind: suspended ? 'suspended' : 'restored', dedupeKey: `suspension:${id}`, to: [accountId] }]
  ),
  onEvent(ContentReportResolved, ({ reportId, reporterId, outcome }) => [{
    kind: 'reportResolved',
    dedupeKey: `report:${reportId}:${outcome}`,
    to: [reporterId],
    data: { reportId },
    params: { action: outcome }
  }]),
  onEvent(DecisionMade, ({ decisionId, accountId, actions }) => {
    const [action] = actions
    return !action || action.type === 'DISMISS' ? [] : [{
      kind: 'decisionMade',
      dedupeKey: `decision:${decisionId}`,
      to: [accountId],
      data: { decisionId },
      params: { action: action.type, scope: action.scope ?? 'none' }
    }]
  }),

  onEvent(
    BadgeEarned,
    (
      { accountId, badge }
    ) => [{ kind: 'badgeEarned', dedupeKey: `badge:${badge}`, to: [accountId], data: { badge }, params: { badge } }]
  ),
  onEvent(
    LevelReached,
    (
      { accountId, level }
    ) => [{ kind: 'levelReached', dedupeKey: `level:${level}`, to: [accountId], params: { level } }]
  ),
  onEvent(RecordSet, ({ accountId, exercise, weightKg, reps }, id) => [{
    kind: 'recordSet',
    dedupeKey: `record:${id}`,
    to: [accountId],
    params: { exercise, weightKg, reps }
  }]),
  onEvent(AchievementEarned, ({ accountId, achievement }) => [{
    kind: 'achievementEarned',
    dedupeKey: `achievement:${achievement}`,
    to: [accountId],
    data: { achievement },
    params: { achievement }
  }]),

  onEvent(
    PasswordChanged,
    (
      { accountId, how },
      id
    ) => [{ kind: 'passwordChanged', dedupeKey: `password:${id}`, to: [accountId], params: { how } }]
  ),
  onEvent(ProviderLinked, ({ accountId, provider }, id) => [{
    kind: 'providerLinked',
    dedupeKey: `provider:${id}`,
    to: [accountId],
    params: { provider }
  }]),
  onEvent(SessionStarted, ({ accountId, sessionId, newDevice, deviceName, platform }) =>
    newDevice
      ? [{
        kind: 'newSignIn',
        dedupeKey: `session:${sessionId}`,
        to: [accountId],
        excludedSessionId: sessionId,
        data: { sessionId },
        params: { device: deviceName ?? platform ?? 'none' }
      }]
      : []),

  onEvent(BuddyRequested, ({ requestId, fromAccountId, toAccountId, sport }) => [{
    kind: 'buddyRequested',
    dedupeKey: buddyRequestKey(fromAccountId),
    to: [toAccountId],
    actorId: fromAccountId,
    data: { requestId },
    params: { sport: nameOfSport(sport) }
  }]),
  onEvent(BuddyAccepted, ({ requestId, fromAccountId, toAccountId, sport }) => [{
    kind: 'buddyAccepted',
    dedupeKey: `buddy-accepted:${requestId}`,
    to: [fromAccountId],
    actorId: toAccountId,
    data: { userId: toAccountId },
    params: { sport: nameOfSport(sport) }
  }]),
  onEvent(BuddyRequestCreated, ({ requestId, fromAccountId, toAccountId, sport }) => [{
    kind: 'buddyRequested',
    dedupeKey: `buddy-request:${requestId}`,
    to: [toAccountId],
    actorId: fromAccountId,
    data: { requestId },
    params: { sport }
  }]),
  onEvent(BuddyRequestAccepted, ({ requestId, fromAccountId, toAccountId, sport }) => [{
    kind: 'buddyAccepted',
    dedupeKey: `buddy-accepted:${requestId}`,
    to: [fromAccountId],
    actorId: toAccountId,
    data: { requestId },
    params: { sport }
  }]),
  onEvent(ReservationConfirmed, ({ accountId, reservationId, title, startsAt }) => [{
    kind: 'reservationConfirmed',
    dedupeKey: `reservation:${reservationId}`,
    to: [accountId],
    data: { reservationId },
    params: { title, startsAt }
  }]),
  onEvent(ReservationReminded, ({ accountId, reservationId, title, startsAt }, id) => [{
    kind: 'reservationReminded',
    dedupeKey: `reminder:${id}`,
    to: [accountId],
    data: { reservationId },
    params: { title, startsAt }
  }]),
  onEvent(FastingTimerFinished, ({ accountId, timerId, hours }) => [{
    kind: 'fastingFinished',
    dedupeKey: `fast:${timerId}`,
    to: [accountId],
    data: { timerId },
    params: { hours }
  }]),
  onEvent(MeetingAsked, ({ meetingId, activityId, accountId }) => [{
    kind: 'meetingAsked',
    dedupeKey: `meeting-asked:${meetingId}`,
    to: [accountId],
    data: { activityId }
  }]),
  onEvent(MeetingContactTold, ({ meetingId, activityId, accountId }) => [{
    kind: 'meetingOverdue',
    dedupeKey: `meeting-overdue:${meetingId}`,
    to: [accountId],
    data: { activityId }
  }]),
  onEvent(MeetingContactNotTold, ({ meetingId, activityId, accountId, isAlarm }) => [{
    kind: isAlarm ? 'meetingAlarmFailed' : 'meetingNotShared',
    dedupeKey: `meeting-${isAlarm ? 'alarm-failed' : 'not-shared'}:${meetingId}`,
    to: [accountId],
    data: { activityId }
  }]),
  onEvent(MeetingDisarmed, ({ meetingId, activityId, accountId, reason }) => [{
    kind: 'meetingDisarmed',
    dedupeKey: `meeting-disarmed:${meetingId}`,
    to: [accountId],
    data: { activityId },
    params: { reason }
  }]),
  onEvent(MeetingEnded, ({ meetingId, activityId, accountId }) => [{
    kind: 'meetingDisarmed',
    dedupeKey: `meeting-disarmed:${meetingId}`,
    to: [accountId],
    data: { activityId },
    params: { reason: 'ACCOUNT_HIDDEN' }
  }]),
  onEvent(FastFinished, ({ accountId, fastId, goalHours }) => [{
    kind: 'fastGoalReached',
    dedupeKey: `fast-goal:${fastId}`,
    to: [accountId],
    data: { fastId },
    params: { hours: goalHours }
  }])
]

/** One notification for each sender, so that withdrawing and repeating a request does not notify again for 90 days. */
export function buddyRequestKey (fromAccountId: string) {
  return `buddy-request-from:${fromAccountId}`
}

// The id of an onboarding option, such as `table_tennis`.
const nameOfSport = (sport: string) => sport.replaceAll('_', ' ')

export function reactionKey (storyId: string, reactedBy: string) {
  return `reaction:${storyId}:${reactedBy}`
}

export function followKey (followerId: string) {
  return `follow:${followerId}`
}

export function matchKey (matchId: string) {
  return `match:${matchId}`
}

export function messageKey (messageId: string) {
  return `message:${messageId}`
}
