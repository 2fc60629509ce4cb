import { on } from '@tandem/bus-kit'
import { PersonBlocked, PersonUnblocked } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertBlock } from './actions.ts'

export const onPersonBlocked = (deps: Deps) =>
  on(
    PersonBlocked,
    async ({ data, time, sequence }) => await upsertBlock(deps, data, { lifted: false, at: time, sequence })
  )
export const onPersonUnblocked = (deps: Deps) =>
  on(
    PersonUnblocked,
    async ({ data, time, sequence }) => await upsertBlock(deps, data, { lifted: true, at: time, sequence })
  )
