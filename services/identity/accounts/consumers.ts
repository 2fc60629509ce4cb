import { on } from '@tandem/bus-kit'
import { PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertPerson } from './actions.ts'

export const onPersonChanged = (deps: Deps) =>
  on(PersonChanged, async ({ data, time }) => await upsertPerson(deps, data, data.changedAt ?? time))
