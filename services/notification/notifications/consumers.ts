import { on } from '@tandem/bus-kit'
import { CommentsDeleted, MatchEnded, PersonUnfollowed, PostDeleted, PostNarrowed } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { createNotifier } from './create.ts'
import { followKey, registry } from './registry.ts'
import {
  applyNarrowedVisibility,
  withdrawComments,
  withdrawMatch,
  withdrawNotification,
  withdrawPost
} from './withdraw.ts'

/** One handler for each event in the registry. All share one batch of inserts. */
export function onNotificationRequested (deps: Deps) {
  const notify = createNotifier(deps)
  return registry.map(({ event, requests }) =>
    on(event, async ({ id, time, data }) => {
      await Promise.all(requests(data as never, id).map(async (request) => await notify(request, time)))
    }, { batched: true })
  )
}

export const onPersonUnfollowed = ({ db }: Deps) =>
  on(
    PersonUnfollowed,
    async ({ data: { followerId, followedId } }) =>
      await withdrawNotification(db, { accountId: followedId, kind: 'followed', dedupeKey: followKey(followerId) })
  )

export const onPostDeleted = ({ db }: Deps) => on(PostDeleted, async ({ data }) => await withdrawPost(db, data.postId))
export const onCommentsDeleted = ({ db }: Deps) =>
  on(CommentsDeleted, async ({ data }) => await withdrawComments(db, data.postId, data.commentIds))
export const onPostNarrowed = ({ db }: Deps) =>
  on(PostNarrowed, async ({ data }) => await applyNarrowedVisibility(db, data))
export const onMatchEnded = ({ db }: Deps) =>
  on(MatchEnded, async ({ data, time }) => await withdrawMatch(db, data, time))
