import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'
import {
  AchievementEarned, BadgeEarned, BuddyRequestAccepted, BuddyRequestCreated, CommentReplied, FastingTimerFinished, LevelReached, LikeReceived, MatchMade,
  MessageSent, PasswordChanged, PeopleMentioned, PersonFollowed, PostCommented, RecordSet, ReportResolved, ReservationConfirmed, ReservationReminded,
  SessionStarted, StoryReacted, SuspensionChanged, VerificationDecided
} from '@tandem/contracts'
import type { NotificationRequest } from './planning.ts'

/** An event and what is told because of it. `id` is the event's own, for what has no other name. */
interface Entry { event: EventDefinition, tellings: (data: never, id: string) => NotificationRequest[] }

function entry<Schema extends Type.TSchema> (event: EventDefinition<Schema>, tellings: (data: Type.Static<Schema>, id: string) => NotificationRequest[]): Entry {
  return { event, tellings }
}

/** What becomes a notice, one by one. The likes of a post are gathered, and broadcasts spread, elsewhere. */
export const registry: Entry[] = [
  entry(PeopleMentioned, ({ postId, commentId, authorId, mentioned, excerpt }) => [{
    kind: commentId ? 'commentMentioned' : 'postMentioned',
    // A comment is told once to a person, be he its post's author, replied to and mentioned in it.
    cause: commentId ? `comment:${commentId}` : `mention:${postId}`,
    to: mentioned,
    actorId: authorId,
    subjectId: postId,
    data: { postId, ...commentId && { commentId } },
    params: { excerpt }
  }]),
  entry(PostCommented, ({ postId, commentId, authorId, commentedBy, excerpt }) => [{
    kind: 'postCommented',
    cause: `comment:${commentId}`,
    to: [authorId],
    actorId: commentedBy,
    subjectId: postId,
    data: { postId, commentId },
    params: { excerpt }
  }]),
  entry(CommentReplied, ({ postId, commentId, parentId, parentAuthorId, repliedBy, excerpt }) => [{
    kind: 'commentReplied',
    cause: `comment:${commentId}`,
    to: [parentAuthorId],
    actorId: repliedBy,
    subjectId: postId,
    data: { postId, commentId, parentId },
    params: { excerpt }
  }]),
  entry(PersonFollowed, ({ followerId, followedId }) => [{
    kind: 'followed', cause: followCause(followerId), to: [followedId], actorId: followerId, data: { userId: followerId }
  }]),
  entry(StoryReacted, ({ storyId, authorId, reactedBy, emoji }) => [{
    kind: 'storyReacted', cause: `reaction:${storyId}:${reactedBy}`, to: [authorId], actorId: reactedBy, data: { storyId }, params: { emoji }
  }]),

  entry(MessageSent, ({ matchId, messageId, senderId, senderName = null, recipientId, hasImage }) => [{
    kind: 'messageReceived',
    cause: messageCause(messageId),
    to: [recipientId],
    actorId: senderId,
    subjectId: matchId,
    data: { matchId, messageId },
    params: { hasImage, displayName: senderName }
  }]),
  entry(LikeReceived, ({ accountId, swipeType, likedBy, displayName = null, profileId }, id) => [{
    kind: 'likeReceived',
    cause: `like:${likedBy ?? id}`,
    to: [accountId],
    actorId: likedBy,
    ...profileId && { data: { profileId } },
    params: { swipeType, displayName }
  }]),
  entry(MatchMade, ({ matchId, accountIds, displayNames, matchType }) => accountIds.map((accountId, number) => ({
    kind: 'matchMade' as const,
    cause: `match:${matchId}`,
    to: [accountId],
    actorId: accountIds.find((each) => each !== accountId) ?? null,
    subjectId: matchId,
    data: { matchId },
    params: { matchType, displayName: displayNames?.[1 - number] ?? null }
  }))),
  entry(VerificationDecided, ({ accountId, approved, reason }, id) => [{
    kind: 'verificationDecided', cause: `verification:${id}`, to: [accountId], params: { approved: String(approved), reason: reason ?? 'none' }
  }]),
  entry(ReportResolved, ({ reportId, reporterId, action }) => [{
    kind: 'reportResolved', cause: `report:${reportId}`, to: [reporterId], data: { reportId }, params: { action }
  }]),
  entry(SuspensionChanged, ({ accountId, suspended }, id) => [{ kind: suspended ? 'suspended' : 'restored', cause: `suspension:${id}`, to: [accountId] }]),

  entry(BadgeEarned, ({ accountId, badge }) => [{ kind: 'badgeEarned', cause: `badge:${badge}`, to: [accountId], data: { badge }, params: { badge } }]),
  entry(LevelReached, ({ accountId, level }) => [{ kind: 'levelReached', cause: `level:${level}`, to: [accountId], params: { level } }]),
  entry(RecordSet, ({ accountId, exercise, weightKg, reps }, id) => [{
    kind: 'recordSet', cause: `record:${id}`, to: [accountId], params: { exercise, weightKg, reps }
  }]),
  entry(AchievementEarned, ({ accountId, achievement }) => [{
    kind: 'achievementEarned', cause: `achievement:${achievement}`, to: [accountId], data: { achievement }, params: { achievement }
  }]),

  entry(PasswordChanged, ({ accountId, how }, id) => [{ kind: 'passwordChanged', cause: `password:${id}`, to: [accountId], params: { how } }]),
  entry(SessionStarted, ({ accountId, sessionId, newDevice, deviceName, platform }) => newDevice
    ? [{
        kind: 'newSignIn',
        cause: `session:${sessionId}`,
        to: [accountId],
        exceptSession: sessionId,
        data: { sessionId },
        params: { device: deviceName ?? platform ?? 'none' }
      }]
    : []),

  entry(BuddyRequestCreated, ({ requestId, fromAccountId, toAccountId, sport }) => [{
    kind: 'buddyRequested', cause: `buddy-request:${requestId}`, to: [toAccountId], actorId: fromAccountId, data: { requestId }, params: { sport }
  }]),
  entry(BuddyRequestAccepted, ({ requestId, fromAccountId, toAccountId, sport }) => [{
    kind: 'buddyAccepted', cause: `buddy-accepted:${requestId}`, to: [fromAccountId], actorId: toAccountId, data: { requestId }, params: { sport }
  }]),
  entry(ReservationConfirmed, ({ accountId, reservationId, title, startsAt }) => [{
    kind: 'reservationConfirmed', cause: `reservation:${reservationId}`, to: [accountId], data: { reservationId }, params: { title, startsAt }
  }]),
  entry(ReservationReminded, ({ accountId, reservationId, title, startsAt }, id) => [{
    kind: 'reservationReminded', cause: `reminder:${id}`, to: [accountId], data: { reservationId }, params: { title, startsAt }
  }]),
  entry(FastingTimerFinished, ({ accountId, timerId, hours }) => [{
    kind: 'fastingFinished', cause: `fast:${timerId}`, to: [accountId], data: { timerId }, params: { hours }
  }])
]

export function followCause (followerId: string) {
  return `follow:${followerId}`
}

export function messageCause (messageId: string) {
  return `message:${messageId}`
}
