import { on } from '@tandem/bus-kit'
import { MatchEnded, MatchMade, PersonBlocked, PersonUnblocked } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertBlock, upsertMatch } from './actions.ts'

export const onPersonBlocked = ({ db }: Deps) =>
  on(
    PersonBlocked,
    async ({ data, time, sequence }) => await upsertBlock(db, data, { isLifted: false, at: time, sequence })
  )
export const onPersonUnblocked = ({ db }: Deps) =>
  on(
    PersonUnblocked,
    async ({ data, time, sequence }) => await upsertBlock(db, data, { isLifted: true, at: time, sequence })
  )
export const onMatchMade = ({ db }: Deps) =>
  on(MatchMade, async ({ data }) => await upsertMatch(db, data, { hasEnded: false }))
export const onMatchEnded = ({ db }: Deps) =>
  on(MatchEnded, async ({ data }) => await upsertMatch(db, data, { hasEnded: true }))
