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
  ReferralCounted,
  ReportResolved,
  ReservationConfirmed,
  ReservationReminded,
  SessionStarted,
  StoryReacted,
  SubscriptionNotice,
  SuspensionChanged,
  VerificationDecided
} from '@tandem/contracts'
import { activityEntries } from './activities.ts'
import { onEvent, type RegistryEntry } from './registry-entry.ts'
import { about } from './subjects.ts'

/** Every event that creates notifications, except likes of posts (likes/) and broadcasts (broadcasts/). */
export const registry: RegistryEntry[] = [
  ...activityEntries,
  onEvent(
    PeopleMentioned,
    ({ postId, commentId, parentId, authorId, postAuthorId = authorId, mentioned, excerpt }) => [{
      kind: commentId ? 'commentMentioned' : 'postMentioned',
      // The key of a comment is shared: the post's author who is also replied to and mentioned gets one notification.
      dedupeKey: commentId ? `comment:${commentId}` : `mention:${postId}`,
      to: mentioned,
      actorId: authorId,
      ownerId: postAuthorId,
      subjects: [
        about.post(postId),
        ...commentId ? [about.comment(commentId)] : [
          about.textOf(postId),
          about.mentionsIn(postId)
        ]
      ],
      data: { postId, ...commentId && { commentId }, ...parentId && { parentId } },
      params: { excerpt }
    }]
  ),
  onEvent(PostCommented, ({ postId, commentId, authorId, commentedBy, excerpt }) => [{
    kind: 'postCommented',
    dedupeKey: `comment:${commentId}`,
    to: [authorId],
    actorId: commentedBy,
    ownerId: authorId,
    subjects: [about.post(postId), about.comment(commentId)],
    data: { postId, commentId },
    params: { excerpt }
  }]),
  onEvent(CommentReplied, ({ postId, commentId, parentId, parentAuthorId, postAuthorId, repliedBy, excerpt }) => [{
    kind: 'commentReplied',
    dedupeKey: `comment:${commentId}`,
    to: [parentAuthorId],
    actorId: repliedBy,
    ...postAuthorId !== undefined && { ownerId: postAuthorId },
    subjects: [about.post(postId), about.comment(commentId)],
    data: { postId, commentId, parentId },
    params: { excerpt }
  }]),
  onEvent(PersonFollowed, ({ followerId, followedId }) => [{
    kind: 'followed',
    dedupeKey: `follow:${followerId}`,
    to: [followedId],
    actorId: followerId,
    subjects: [about.follow(followerId)],
    data: { userId: followerId }
  }]),
  onEvent(StoryReacted, ({ storyId, authorId, reactedBy, emoji }) => [{
    kind: 'storyReacted',
    dedupeKey: `reaction:${storyId}:${reactedBy}`,
    to: [authorId],
    actorId: reactedBy,
    subjects: [about.story(storyId)],
    data: { storyId },
    params: { emoji }
  }]),

  onEvent(MessageSent, (
    { matchId, messageId, senderId, senderName = null, senderProfileId, recipientId, hasImage }
  ) => [{
    kind: 'messageReceived',
    dedupeKey: messageKey(messageId),
    to: [recipientId],
    actorId: senderId,
    subjects: [about.match(matchId), about.profileOf(senderId)],
    data: { matchId, messageId, ...senderProfileId && { profileId: senderProfileId } },
    params: { hasImage, displayName: senderName }
  }]),
  onEvent(LikeReceived, ({ accountId, swipeType, likedBy, likerId = likedBy, displayName = null, profileId }, id) => [{
    kind: 'likeReceived',
    dedupeKey: `like:${likerId ?? id}`,
    to: [accountId],
    actorId: likerId,
    subjects: [about.likesFor(accountId), ...likerId ? [about.likesOf(likerId), about.profileOf(likerId)] : []],
    ...profileId && { data: { profileId } },
    params: { swipeType, displayName }
  }]),
  onEvent(
    MatchMade,
    ({ matchId, accountIds, displayNames, profileIds, matchType }) =>
      accountIds.map((accountId, number) => ({
        kind: 'matchMade' as const,
        dedupeKey: about.match(matchId),
        to: [accountId],
        actorId: accountIds[1 - number]!,
        subjects: [about.match(matchId), about.profileOf(accountIds[1 - number]!)],
        data: { matchId, ...profileIds && { profileId: profileIds[1 - number]! } },
        params: { matchType, displayName: displayNames?.[1 - number] ?? null }
      }))
  ),
  onEvent(VerificationDecided, ({ accountId, approved, reason }, id) => [{
    kind: 'verificationDecided',
    dedupeKey: `verification:${id}`,
    to: [accountId],
    subjects: [about.verificationOf(accountId)],
    params: { approved: String(approved), reason: reason ?? 'none' }
  }]),
  onEvent(ReportResolved, ({ reportId, reporterId, action, outcome }) => [{
    kind: 'reportResolved',
    // After an appeal the outcome can be another one.
    dedupeKey: `report:${reportId}:${outcome ?? action}`,
    to: [reporterId],
    subjects: [about.report(reportId)],
    data: { reportId },
    params: { action: outcome ?? action }
  }]),
  onEvent(SuspensionChanged, ({ accountId, suspended, automatedCaseId, isDecision }, id) =>
    // Identity informs people of decisions, with the reasons.
    automatedCaseId !== undefined || isDecision ? [] : [{
      kind: suspended ? 'suspended' : 'restored',
      dedupeKey: `suspension:${id}`,
      to: [accountId],
      subjects: [about.suspensionOf(accountId)]
    }]),
  onEvent(ContentReportResolved, ({ reportId, reporterId, outcome }) => [{
    kind: 'reportResolved',
    dedupeKey: `report:${reportId}:${outcome}`,
    to: [reporterId],
    subjects: [about.report(reportId)],
    data: { reportId },
    params: { action: outcome }
  }]),
  onEvent(SubscriptionNotice, ({ accountId, kind, key }) => [{
    kind: 'subscriptionNoticed',
    dedupeKey: `subscription:${key}`,
    to: [accountId],
    params: { kind }
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

  onEvent(BadgeEarned, ({ accountId, badge }) => [{
    kind: 'badgeEarned',
    dedupeKey: `badge:${badge}`,
    to: [accountId],
    subjects: [about.badge(badge, accountId)],
    data: { badge },
    params: { badge }
  }]),
  onEvent(LevelReached, ({ accountId, level }) => [{
    kind: 'levelReached',
    dedupeKey: `level:${level}`,
    to: [accountId],
    subjects: [about.level(level, accountId)],
    params: { level }
  }]),
  onEvent(RecordSet, ({ accountId, logId, exerciseKey, exercise, weightKg, reps }, id) => [{
    kind: 'recordSet',
    to: [accountId],
    ...logId !== undefined && exerciseKey !== undefined
      ? {
        dedupeKey: about.record({ logId, exerciseKey }),
        subjects: [about.record({ logId, exerciseKey })],
        data: { logId }
      }
      : { dedupeKey: `record:${id}` },
    params: { exercise, weightKg, reps }
  }]),
  onEvent(ReferralCounted, ({ referrerId, referredId, referrerDays, referredDays }) => [
    {
      kind: 'referralCounted',
      dedupeKey: `referral:${referredId}`,
      to: [referrerId],
      actorId: referredId,
      data: { userId: referredId },
      params: { days: referrerDays }
    },
    ...referredDays > 0
      ? [{
        kind: 'referralRewarded' as const,
        dedupeKey: `referral:${referrerId}`,
        to: [referredId],
        actorId: referrerId,
        data: { userId: referrerId },
        params: { days: referredDays }
      }]
      : []
  ]),
  onEvent(AchievementEarned, ({ accountId, achievement, achievementId }) => [{
    kind: 'achievementEarned',
    // Of the achievement: one that was taken back can be earned again.
    dedupeKey: about.achievement(achievementId ?? achievement),
    to: [accountId],
    subjects: [about.achievement(achievementId ?? achievement)],
    data: { achievement, ...achievementId !== undefined && { achievementId } },
    params: { achievement }
  }]),

  onEvent(PasswordChanged, ({ accountId, how }, id) => [{
    kind: 'passwordChanged',
    dedupeKey: `password:${id}`,
    to: [accountId],
    params: { how }
  }]),
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
    // One for each sender, so that withdrawing and repeating a request pushes nothing again.
    dedupeKey: `buddy-request-from:${fromAccountId}`,
    to: [toAccountId],
    actorId: fromAccountId,
    subjects: [about.buddyRequest(requestId)],
    data: { requestId },
    params: { sport: nameOfSport(sport) }
  }]),
  onEvent(BuddyAccepted, ({ requestId, fromAccountId, toAccountId, sport }) => [{
    kind: 'buddyAccepted',
    dedupeKey: `buddy-accepted:${requestId}`,
    to: [fromAccountId],
    actorId: toAccountId,
    subjects: [about.buddies(fromAccountId, toAccountId)],
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
    params: { title, startsAt },
    pointlessFrom: new Date(startsAt)
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
    subjects: [about.meeting(meetingId)],
    data: { activityId }
  }]),
  onEvent(MeetingContactTold, ({ meetingId, activityId, accountId }) => [{
    kind: 'meetingOverdue',
    dedupeKey: `meeting-overdue:${meetingId}`,
    to: [accountId],
    subjects: [about.meeting(meetingId)],
    data: { activityId }
  }]),
  onEvent(MeetingContactNotTold, ({ meetingId, activityId, accountId, isAlarm }) => [{
    kind: isAlarm ? 'meetingAlarmFailed' : 'meetingNotShared',
    dedupeKey: `meeting-${isAlarm ? 'alarm-failed' : 'not-shared'}:${meetingId}`,
    to: [accountId],
    subjects: [about.meeting(meetingId)],
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
  onEvent(FastFinished, ({ accountId, fastId, goalHours }, id) => [{
    kind: 'fastGoalReached',
    // Of the event: a corrected fast can reach its goal again, and that is pushed too.
    dedupeKey: `fast-goal:${id}`,
    to: [accountId],
    subjects: [about.fast(fastId)],
    data: { fastId },
    params: { hours: goalHours }
  }])
]

// The id of an onboarding option, such as `table_tennis`.
const nameOfSport = (sport: string) => sport.replaceAll('_', ' ')

export const messageKey = (messageId: string) => `message:${messageId}`
