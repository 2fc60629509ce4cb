import { on } from '@tandem/bus-kit'
import { PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertPerson } from './actions.ts'

export const onPersonChanged = ({ db }: Deps) =>
  on(PersonChanged, async ({ data, time }) => await upsertPerson(db, data, data.changedAt ?? time))
