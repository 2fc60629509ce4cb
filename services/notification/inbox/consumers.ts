import { on } from '@tandem/bus-kit'
import { MatchEnded, PersonUnfollowed } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { createTeller } from './actions.ts'
import { followCause, registry } from './registry.ts'
import { endMatch, withdrawNotice } from './withdrawals.ts'

/** One hearer for each event that becomes a notice; what they tell is written together. */
export function onTold (deps: Deps) {
  const tell = createTeller(deps)
  return registry.map(({ event, tellings }) => on(event, async ({ id, time, data }) => {
    await Promise.all(tellings(data as never, id).map(async (telling) => await tell(telling, time)))
  }, { joins: true }))
}

export const onPersonUnfollowed = ({ db }: Deps) => on(PersonUnfollowed, async ({ data: { followerId, followedId } }) =>
  await withdrawNotice(db, { accountId: followedId, kind: 'followed', cause: followCause(followerId) }))

export const onMatchEnded = ({ db }: Deps) => on(MatchEnded, async ({ data, time }) => await endMatch(db, data, time))
