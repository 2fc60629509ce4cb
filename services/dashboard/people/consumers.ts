import { on } from '@tandem/bus-kit'
import { FactsChanged, PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertPerson, upsertProfileWeight } from './actions.ts'

export const onPersonChanged = ({ db, cache }: Deps) => on(PersonChanged, async ({ data, time }) => {
  await upsertPerson(db, data, time)
  // Another time zone may mean another today.
  await cache.forget(data.accountId)
})

export const onFactsChanged = ({ db, cache }: Deps) => on(FactsChanged, async ({ data: { accountId, weight, weighedAt } }) => {
  // Profile services of before do not say since when it is so; other facts may have changed than the weight.
  if (weight === null || !weighedAt) return
  await upsertProfileWeight(db, { accountId, kg: weight, weighedAt })
  await cache.forget(accountId)
})
