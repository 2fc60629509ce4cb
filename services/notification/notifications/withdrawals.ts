import type Type from 'typebox'
import {
  AchievementLost,
  ActivityCanceled,
  ActivityChanged,
  ActivityEdited,
  ActivityFilled,
  BadgeRevoked,
  BuddiesEnded,
  BuddyAccepted,
  BuddyRequestDeclined,
  BuddyRequestWithdrawn,
  CommentsDeleted,
  ContentHidden,
  ContentReportResolved,
  FastCorrected,
  LevelLost,
  LikesWithdrawn,
  MeetingDisarmed,
  MeetingEnded,
  MeetingFinished,
  ParticipationChanged,
  PeopleUnmentioned,
  PersonUnfollowed,
  PostClosed,
  PostDeleted,
  PostEdited,
  PostNarrowed,
  PostsClosed,
  ProfileDeleted,
  RecordsLost,
  ReportResolved,
  StoryDeleted,
  StoryUnreacted,
  SuspensionChanged,
  VerificationDecided,
  VerificationRevoked,
  type EventDefinition
} from '@tandem/contracts'
import type { Rewriting } from './rewrite.ts'
import { about } from './subjects.ts'
import type { Scope } from './withdraw.ts'

/** An event after which notifications of earlier events are no longer so: which are withdrawn, which rewritten. */
interface WithdrawalEntry {
  event: EventDefinition
  scopes: (data: never) => Scope[]
  rewritings: (data: never) => Rewriting[]
}

const entry = <Schema extends Type.TSchema>(
  event: EventDefinition<Schema>,
  { scopes = () => [], rewritings = () => [] }: {
    scopes?: (data: NoInfer<Type.Static<Schema>>) => Scope[],
    rewritings?: (data: NoInfer<Type.Static<Schema>>) => Rewriting[]
  }
): WithdrawalEntry => ({ event, scopes, rewritings })

const withdrawnBy = <Schema extends Type.TSchema>(
  event: EventDefinition<Schema>,
  scopes: (data: NoInfer<Type.Static<Schema>>) => Scope[]
) => entry(event, { scopes })

/** The same for what does not exist any more. */
const goneWith = <Schema extends Type.TSchema>(
  event: EventDefinition<Schema>,
  subjects: (data: NoInfer<Type.Static<Schema>>) => string[]
) => entry(event, { scopes: (data) => subjects(data).map((subject) => ({ subject, isGone: true })) })

const rewrittenBy = <Schema extends Type.TSchema>(
  event: EventDefinition<Schema>,
  rewritings: (data: NoInfer<Type.Static<Schema>>) => Rewriting[]
) => entry(event, { rewritings })

/** What people were notified of a guest in an activity: the guest, and others of what the guest did. */
const partsIn = (activityId: string, accountIds: string[]): Scope[] =>
  accountIds.flatMap((accountId) => [
    { subject: about.lostPlaceIn(activityId), accountId },
    { subject: about.activity(activityId), accountId },
    { subject: about.activity(activityId), actorId: accountId }
  ])

/** Every event that withdraws or rewrites notifications, except unlikes (likes/) and blocks (blocks/). */
export const withdrawals: WithdrawalEntry[] = [
  goneWith(PostDeleted, ({ postId }) => [about.post(postId)]),
  goneWith(CommentsDeleted, ({ commentIds }) => commentIds.map(about.comment)),
  withdrawnBy(ContentHidden, ({ type, id }) => {
    if (type === 'POST') return [{ subject: about.post(id), sparesOwner: true }]
    // A reaction is in the inbox of the story's author only, who still sees it.
    return type === 'COMMENT' ? [{ subject: about.comment(id) }] : []
  }),
  withdrawnBy(
    PostClosed,
    ({ postId, accountIds }) => accountIds.map((accountId) => ({ subject: about.post(postId), accountId }))
  ),
  withdrawnBy(
    PostsClosed,
    ({ accountId, postIds }) => postIds.map((postId) => ({ subject: about.post(postId), accountId }))
  ),
  withdrawnBy(
    PeopleUnmentioned,
    ({ postId, unmentioned }) => unmentioned.map((accountId) => ({ subject: about.mentionsIn(postId), accountId }))
  ),
  rewrittenBy(PostEdited, ({ postId, excerpt }) => [{ subject: about.textOf(postId), params: { excerpt } }]),
  entry(PostNarrowed, {
    scopes: ({ postId, visibility }) =>
      visibility === 'PRIVATE' ? [{ subject: about.post(postId), sparesOwner: true }] : [],
    rewritings: ({ postId }) => [{ subject: about.post(postId), params: { excerpt: null } }]
  }),
  withdrawnBy(StoryUnreacted, ({ storyId, authorId, unreactedBy }) => [{
    subject: about.story(storyId),
    accountId: authorId,
    actorId: unreactedBy
  }]),
  goneWith(StoryDeleted, ({ storyId }) => [about.story(storyId)]),
  withdrawnBy(PersonUnfollowed, ({ followerId, followedId }) => [{
    subject: about.follow(followerId),
    accountId: followedId,
    actorId: followerId
  }]),

  withdrawnBy(LikesWithdrawn, ({ likerId, receiverIds }) => {
    const likes = { subject: about.likesOf(likerId), actorId: likerId }
    return receiverIds ? receiverIds.map((accountId) => ({ ...likes, accountId })) : [likes]
  }),
  withdrawnBy(ProfileDeleted, ({ accountId }) => [
    { subject: about.likesOf(accountId), actorId: accountId },
    { subject: about.likesFor(accountId), accountId },
    { subject: about.verificationOf(accountId), accountId }
  ]),
  // The newest of these notifications replaces the others.
  withdrawnBy(SuspensionChanged, ({ accountId, suspended }) => [
    { subject: about.suspensionOf(accountId), accountId },
    ...suspended ? [{ subject: about.profileOf(accountId), actorId: accountId }] : []
  ]),
  withdrawnBy(VerificationDecided, ({ accountId }) => [{ subject: about.verificationOf(accountId), accountId }]),
  withdrawnBy(VerificationRevoked, ({ accountId }) => [{ subject: about.verificationOf(accountId), accountId }]),
  withdrawnBy(ReportResolved, ({ reportId }) => [{ subject: about.report(reportId) }]),
  withdrawnBy(ContentReportResolved, ({ reportId }) => [{ subject: about.report(reportId) }]),
  withdrawnBy(BadgeRevoked, ({ badge, accountId }) => [{ subject: about.badge(badge, accountId), accountId }]),

  withdrawnBy(ParticipationChanged, ({ activityId, accountIds }) => partsIn(activityId, accountIds)),
  withdrawnBy(
    ActivityChanged,
    ({ activityId, accountIds, changedBy }) => changedBy === null ? [] : partsIn(activityId, accountIds)
  ),
  withdrawnBy(
    ActivityCanceled,
    ({ activityId, accountIds, reason }) =>
      reason === 'CANCELED' ? [{ subject: about.activity(activityId), isGone: true }] : partsIn(activityId, accountIds)
  ),
  withdrawnBy(ActivityFilled, ({ activityId }) => [{ subject: about.freePlaceIn(activityId) }]),
  rewrittenBy(ActivityEdited, ({ activityId, ...params }) => [{ subject: about.activity(activityId), params }]),
  goneWith(MeetingFinished, ({ meetingId }) => [about.meeting(meetingId)]),
  goneWith(MeetingEnded, ({ meetingId }) => [about.meeting(meetingId)]),
  goneWith(MeetingDisarmed, ({ meetingId }) => [about.meeting(meetingId)]),
  goneWith(BuddyRequestWithdrawn, ({ requestId }) => [about.buddyRequest(requestId)]),
  goneWith(BuddyRequestDeclined, ({ requestId }) => [about.buddyRequest(requestId)]),
  goneWith(BuddyAccepted, ({ requestId }) => [about.buddyRequest(requestId)]),
  withdrawnBy(BuddiesEnded, ({ accountIds: [one = '', other = ''] }) => [
    { subject: about.buddies(one, other), accountId: one, actorId: other },
    { subject: about.buddies(one, other), accountId: other, actorId: one }
  ]),

  withdrawnBy(
    LevelLost,
    ({ accountId, level, from }) =>
      Array.from({ length: from - level }, (_, index) => ({
        subject: about.level(level + index + 1, accountId),
        accountId
      }))
  ),
  withdrawnBy(
    RecordsLost,
    ({ accountId, records }) => records.map((record) => ({ subject: about.record(record), accountId }))
  ),
  withdrawnBy(
    AchievementLost,
    ({ accountId, achievementId }) => [{ subject: about.achievement(achievementId), accountId }]
  ),
  withdrawnBy(FastCorrected, ({ fastId }) => [{ subject: about.fast(fastId) }])
]
