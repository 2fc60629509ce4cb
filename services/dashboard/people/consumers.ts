import { on } from '@tandem/bus-kit'
import { FactsChanged, PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertPerson, upsertProfileFacts, upsertProfileWeight } from './actions.ts'

export const onPersonChanged = ({ db, mediaUrls }: Deps) =>
  on(PersonChanged, async ({ data, time }) => await upsertPerson({ db, mediaUrls }, data, time))

export const onFactsChanged = ({ db }: Deps) =>
  on(FactsChanged, async ({ data, time }) => {
    const { accountId, changedAt, workoutFrequency } = data
    if (changedAt && workoutFrequency !== undefined) {
      await upsertProfileFacts(db, { accountId, workoutFrequency, changedAt })
    }
    // A profile of an earlier version does not tell them apart.
    const { enteredWeight: kg = data.weight, enteredAt: weighedAt = data.weighedAt ?? null } = data
    await upsertProfileWeight(db, { accountId, kg, weighedAt, changedAt: changedAt ?? time })
  })
