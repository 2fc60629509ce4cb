import { on } from '@tandem/bus-kit'
import { CommentsDeleted, MatchEnded, MessagesRead, PersonUnfollowed, PostDeleted, PostNarrowed } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { createNotifier, readMessages } from './actions.ts'
import { followCause, registry } from './registry.ts'
import { endMatch, forgetComments, forgetPost, narrowPost, withdrawNotice } from './withdrawals.ts'

/** One hearer for each event that becomes a notice; what they tell is written together. */
export function onNotificationRequested (deps: Deps) {
  const tell = createNotifier(deps)
  return registry.map(({ event, tellings }) => on(event, async ({ id, time, data }) => {
    await Promise.all(tellings(data as never, id).map(async (telling) => await tell(telling, time)))
  }, { batched: true }))
}

export const onPersonUnfollowed = ({ db }: Deps) => on(PersonUnfollowed, async ({ data: { followerId, followedId } }) =>
  await withdrawNotice(db, { accountId: followedId, kind: 'followed', cause: followCause(followerId) }))

export const onPostDeleted = ({ db }: Deps) => on(PostDeleted, async ({ data }) => await forgetPost(db, data.postId))
export const onCommentsDeleted = ({ db }: Deps) => on(CommentsDeleted, async ({ data }) => await forgetComments(db, data.postId, data.commentIds))
export const onPostNarrowed = ({ db }: Deps) => on(PostNarrowed, async ({ data }) => await narrowPost(db, data))

export const onMessagesRead = ({ db }: Deps) => on(MessagesRead, async ({ data }) => await readMessages(db, data))
export const onMatchEnded = ({ db }: Deps) => on(MatchEnded, async ({ data, time }) => await endMatch(db, data, time))
