import { on } from '@tandem/bus-kit'
import { MatchEnded, PersonUnfollowed } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { tell } from './actions.ts'
import { followCause, registry } from './registry.ts'
import { endMatch, withdrawNotice } from './withdrawals.ts'

/** One hearer for each event that becomes a notice. */
export const onTold = registry.map(({ event, tellings }) => (deps: Deps) => on(event, async ({ id, time, data }) => {
  for (const telling of tellings(data as never, id)) await tell(deps, telling, time)
}))

export const onPersonUnfollowed = ({ db }: Deps) => on(PersonUnfollowed, async ({ data: { followerId, followedId } }) =>
  await withdrawNotice(db, { accountId: followedId, kind: 'followed', cause: followCause(followerId) }))

export const onMatchEnded = ({ db }: Deps) => on(MatchEnded, async ({ data, time }) => await endMatch(db, data, time))
