import { on } from '@tandem/bus-kit'
import { AccountRegistered, WeightLogged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { adoptLoggedWeight, addPerson } from './actions.ts'

export const onAccountRegistered = ({ db }: Deps) =>
  on(AccountRegistered, async ({ data }) => await addPerson(db, data))

export const onWeightLogged = (deps: Deps) =>
  on(WeightLogged, async ({ id, data }) => await adoptLoggedWeight(deps, id, data))
