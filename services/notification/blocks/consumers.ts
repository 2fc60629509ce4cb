import { on } from '@tandem/bus-kit'
import { PersonBlocked, PersonUnblocked } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertBlock } from './actions.ts'

export const onPersonBlocked = ({ db }: Deps) =>
  on(
    PersonBlocked,
    async ({ data, time, sequence }) => await upsertBlock(db, data, { lifted: false, at: time, sequence })
  )
export const onPersonUnblocked = ({ db }: Deps) =>
  on(
    PersonUnblocked,
    async ({ data, time, sequence }) => await upsertBlock(db, data, { lifted: true, at: time, sequence })
  )
