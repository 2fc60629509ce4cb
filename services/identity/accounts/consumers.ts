import { on } from '@tandem/bus-kit'
import { PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { keepPerson } from './actions.ts'

export const onPersonChanged = ({ db }: Deps) => on(PersonChanged, async ({ data, time }) => await keepPerson(db, data, data.changedAt ?? time))
