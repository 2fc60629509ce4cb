import { on } from '@tandem/bus-kit'
import { AccountRegistered, WeightLogged, WeightUnlogged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { adoptLoggedWeight, addPerson } from './actions.ts'

export const onAccountRegistered = ({ db }: Deps) =>
  on(AccountRegistered, async ({ data }) => await addPerson(db, data))

export const onWeightLogged = (deps: Deps) =>
  on(
    WeightLogged,
    async ({ data: { accountId, kg, at }, sequence }) =>
      await adoptLoggedWeight(deps, { accountId, newest: { kg, at: new Date(at) }, sequence })
  )

export const onWeightUnlogged = (deps: Deps) =>
  on(
    WeightUnlogged,
    async ({ data: { accountId }, sequence }) => await adoptLoggedWeight(deps, { accountId, newest: null, sequence })
  )
