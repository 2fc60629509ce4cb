import { on } from '@tandem/bus-kit'
import { PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertPeople } from './copies.ts'

export const onPersonChanged = (deps: Deps) =>
  on(PersonChanged, async ({ data, time }) => await upsertPeople(deps, [data], time))
