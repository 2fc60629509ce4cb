import { on } from '@tandem/bus-kit'
import {
  BuddyRequestWithdrawn,
  ActivityCanceled,
  CommentsDeleted,
  MatchEnded,
  PersonUnfollowed,
  PostDeleted,
  PostEdited,
  PostNarrowed,
  StoryUnreacted
} from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { createNotifier } from './notifier.ts'
import { buddyRequestKey, followKey, reactionKey, registry } from './registry.ts'
import {
  applyEdit,
  applyNarrowedVisibility,
  withdrawActivity,
  withdrawComments,
  withdrawMatch,
  withdrawNotification,
  withdrawPost
} from './withdraw.ts'

/** One handler for each event in the registry. All write their notifications in shared batches. */
export function onNotificationRequested (deps: Deps) {
  const notify = createNotifier(deps)
  return registry.map(({ event, requests }) =>
    on(event, async ({ id, time, data }) => {
      const useful = requests(data as never, id).filter(({ pointlessFrom }) =>
        !pointlessFrom || pointlessFrom > deps.now()
      )
      await Promise.all(useful.map(async (request) => await notify(request, time)))
    }, { batched: true })
  )
}

export const onPersonUnfollowed = (deps: Deps) =>
  on(
    PersonUnfollowed,
    async ({ data: { followerId, followedId } }) =>
      await withdrawNotification(deps, { accountId: followedId, kind: 'followed', dedupeKey: followKey(followerId) })
  )

export const onStoryUnreacted = (deps: Deps) =>
  on(
    StoryUnreacted,
    async ({ data: { storyId, authorId, unreactedBy } }) =>
      await withdrawNotification(deps, {
        accountId: authorId,
        kind: 'storyReacted',
        dedupeKey: reactionKey(storyId, unreactedBy)
      })
  )

export const onBuddyRequestWithdrawn = (deps: Deps) =>
  on(
    BuddyRequestWithdrawn,
    async ({ data: { fromAccountId, toAccountId } }) =>
      await withdrawNotification(deps, {
        accountId: toAccountId,
        kind: 'buddyRequested',
        dedupeKey: buddyRequestKey(fromAccountId)
      })
  )

export const onPostDeleted = (deps: Deps) => on(PostDeleted, async ({ data }) => await withdrawPost(deps, data.postId))
export const onCommentsDeleted = (deps: Deps) =>
  on(CommentsDeleted, async ({ data }) => await withdrawComments(deps, data.postId, data.commentIds))
export const onPostNarrowed = (deps: Deps) =>
  on(PostNarrowed, async ({ data, time }) => await applyNarrowedVisibility(deps, data, time))
export const onPostEdited = (deps: Deps) => on(PostEdited, async ({ data, time }) => await applyEdit(deps, data, time))
export const onMatchEnded = (deps: Deps) =>
  on(MatchEnded, async ({ data, time }) => await withdrawMatch(deps, data, time))
export const onActivityCanceled = (deps: Deps) =>
  on(ActivityCanceled, async ({ data, time }) => await withdrawActivity(deps, data, time))
