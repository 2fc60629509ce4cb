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
import type { Params } from '../tables.ts'
import type { Rewriting } from './rewrite.ts'
import { about } from './subjects.ts'
import type { Scope } from './withdraw.ts'

/** What is no longer so in notifications of earlier events: which are withdrawn, and which rewritten. */
interface Effects {
  scopes?: Scope[]
  rewritings?: Rewriting[]
}

interface WithdrawalEntry {
  event: EventDefinition
  effects: (data: never) => Effects
}

const after = <Schema extends Type.TSchema>(
  event: EventDefinition<Schema>,
  effects: (data: NoInfer<Type.Static<Schema>>) => Effects
): WithdrawalEntry => ({ event, effects })

const withdraws = (...scopes: Scope[]): Effects => ({ scopes })
const rewrites = (subject: string, params: Params): Effects => ({ rewritings: [{ subject, params }] })
/** What does not exist any more. */
const ends = (...subjects: string[]): Effects => ({ scopes: subjects.map((subject) => ({ subject, isGone: true })) })

/** What people were notified of a guest in an activity: the guest, and others of what the guest did. */
const withdrawsParts = (activityId: string, accountIds: string[]) =>
  withdraws(...accountIds.flatMap((accountId) => [
    { subject: about.lostPlaceIn(activityId), accountId },
    { subject: about.activity(activityId), accountId },
    { subject: about.activity(activityId), actorId: accountId }
  ]))

/** Every event that withdraws or rewrites notifications, except unlikes (likes/) and blocks (blocks/). */
export const withdrawals: WithdrawalEntry[] = [
  after(PostDeleted, ({ postId }) => ends(about.post(postId))),
  after(CommentsDeleted, ({ commentIds }) => ends(...commentIds.map(about.comment))),
  after(ContentHidden, ({ type, id }) => {
    if (type === 'POST') return withdraws({ subject: about.post(id), sparesOwner: true })
    // A reaction is in the inbox of the story's author only, who still sees it.
    return type === 'COMMENT' ? withdraws({ subject: about.comment(id) }) : {}
  }),
  after(
    PostClosed,
    ({ postId, accountIds }) =>
      withdraws(...accountIds.map((accountId) => ({ subject: about.post(postId), accountId })))
  ),
  after(
    PostsClosed,
    ({ accountId, postIds }) => withdraws(...postIds.map((postId) => ({ subject: about.post(postId), accountId })))
  ),
  after(
    PeopleUnmentioned,
    ({ postId, unmentioned }) =>
      withdraws(...unmentioned.map((accountId) => ({ subject: about.mentionsIn(postId), accountId })))
  ),
  after(PostEdited, ({ postId, excerpt }) => rewrites(about.textOf(postId), { excerpt })),
  after(PostNarrowed, ({ postId, visibility }) => ({
    ...visibility === 'PRIVATE' && withdraws({ subject: about.post(postId), sparesOwner: true }),
    ...rewrites(about.post(postId), { excerpt: null })
  })),
  after(
    StoryUnreacted,
    ({ storyId, authorId, unreactedBy }) =>
      withdraws({ subject: about.story(storyId), accountId: authorId, actorId: unreactedBy })
  ),
  after(StoryDeleted, ({ storyId }) => ends(about.story(storyId))),
  after(
    PersonUnfollowed,
    ({ followerId, followedId }) =>
      withdraws({ subject: about.follow(followerId), accountId: followedId, actorId: followerId })
  ),

  after(LikesWithdrawn, ({ likerId, receiverIds }) => {
    const likes = { subject: about.likesOf(likerId), actorId: likerId }
    return withdraws(...receiverIds ? receiverIds.map((accountId) => ({ ...likes, accountId })) : [likes])
  }),
  after(ProfileDeleted, ({ accountId }) =>
    withdraws(
      { subject: about.likesOf(accountId), actorId: accountId },
      { subject: about.likesFor(accountId), accountId },
      { subject: about.verificationOf(accountId), accountId }
    )),
  // The newest of these notifications replaces the others.
  after(SuspensionChanged, ({ accountId, suspended }) =>
    withdraws(
      { subject: about.suspensionOf(accountId), accountId },
      ...suspended ? [{ subject: about.profileOf(accountId), actorId: accountId }] : []
    )),
  after(VerificationDecided, ({ accountId }) => withdraws({ subject: about.verificationOf(accountId), accountId })),
  after(VerificationRevoked, ({ accountId }) => withdraws({ subject: about.verificationOf(accountId), accountId })),
  after(ReportResolved, ({ reportId }) => withdraws({ subject: about.report(reportId) })),
  after(ContentReportResolved, ({ reportId }) => withdraws({ subject: about.report(reportId) })),
  after(BadgeRevoked, ({ badge, accountId }) => withdraws({ subject: about.badge(badge, accountId), accountId })),

  after(ParticipationChanged, ({ activityId, accountIds }) => withdrawsParts(activityId, accountIds)),
  after(
    ActivityChanged,
    ({ activityId, accountIds, changedBy }) => changedBy === null ? {} : withdrawsParts(activityId, accountIds)
  ),
  after(
    ActivityCanceled,
    ({ activityId, accountIds, reason }) =>
      reason === 'CANCELED' ? ends(about.activity(activityId)) : withdrawsParts(activityId, accountIds)
  ),
  after(ActivityFilled, ({ activityId }) => withdraws({ subject: about.freePlaceIn(activityId) })),
  after(ActivityEdited, ({ activityId, ...params }) => rewrites(about.activity(activityId), params)),
  after(MeetingFinished, ({ meetingId }) => ends(about.meeting(meetingId))),
  after(MeetingEnded, ({ meetingId }) => ends(about.meeting(meetingId))),
  after(MeetingDisarmed, ({ meetingId }) => ends(about.meeting(meetingId))),
  after(BuddyRequestWithdrawn, ({ requestId }) => ends(about.buddyRequest(requestId))),
  after(BuddyRequestDeclined, ({ requestId }) => ends(about.buddyRequest(requestId))),
  after(BuddyAccepted, ({ requestId }) => ends(about.buddyRequest(requestId))),
  after(BuddiesEnded, ({ accountIds: [one = '', other = ''] }) =>
    withdraws(
      { subject: about.buddies(one, other), accountId: one, actorId: other },
      { subject: about.buddies(one, other), accountId: other, actorId: one }
    )),

  after(LevelLost, ({ accountId, level, from }) =>
    withdraws(
      ...Array.from({ length: from - level }, (_, index) => ({
        subject: about.level(level + index + 1, accountId),
        accountId
      }))
    )),
  after(
    RecordsLost,
    ({ accountId, records }) => withdraws(...records.map((record) => ({ subject: about.record(record), accountId })))
  ),
  after(
    AchievementLost,
    ({ accountId, achievementId }) => withdraws({ subject: about.achievement(achievementId), accountId })
  ),
  after(FastCorrected, ({ fastId }) => withdraws({ subject: about.fast(fastId) }))
]
