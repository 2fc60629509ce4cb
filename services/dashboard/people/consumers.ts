import { on } from '@tandem/bus-kit'
import { FactsChanged, PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertPerson, upsertProfileWeight } from './actions.ts'

export const onPersonChanged = ({ db, mediaUrls, cache }: Deps) =>
  on(PersonChanged, async ({ data, time }) => {
    await upsertPerson({ db, mediaUrls }, data, time)
    // A new time zone can change which day is today.
    await cache.invalidate(data.accountId)
  })

export const onFactsChanged = ({ db, cache }: Deps) =>
  on(FactsChanged, async ({ data: { accountId, weight, weighedAt } }) => {
    // The event also reports changes of other facts; without `weighedAt` the weight has no time to compare.
    if (weight === null || !weighedAt) return
    await upsertProfileWeight(db, { accountId, kg: weight, weighedAt })
    await cache.invalidate(accountId)
  })
