import { on } from '@tandem/bus-kit'
import { FactsChanged, PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertPerson, upsertProfileFacts, upsertProfileWeight } from './actions.ts'

export const onPersonChanged = ({ db, mediaUrls }: Deps) =>
  on(PersonChanged, async ({ data, time }) => await upsertPerson({ db, mediaUrls }, data, time))

export const onFactsChanged = ({ db }: Deps) =>
  on(FactsChanged, async ({ data: { accountId, weight, weighedAt, workoutFrequency, changedAt } }) => {
    if (changedAt && workoutFrequency !== undefined) {
      await upsertProfileFacts(db, { accountId, workoutFrequency, changedAt })
    }
    // The event also reports changes of other facts; without `weighedAt` the weight has no time to compare.
    if (weight === null || !weighedAt) return
    await upsertProfileWeight(db, { accountId, kg: weight, weighedAt })
  })
