import { on } from '@tandem/bus-kit'
import { PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { keepPeople } from './actions.ts'

export const onPersonChanged = ({ db }: Deps) => on(PersonChanged, async ({ data, time }) => await keepPeople(db, [data], time))
