import { on } from '@tandem/bus-kit'
import { FactsChanged, PersonChanged, SubscriptionChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertFacts, upsertPerson, upsertSubscription } from './actions.ts'
import { upsertPeople } from './copies.ts'

export const onPersonChanged = ({ db, media }: Deps) =>
  on(PersonChanged, async ({ data, time }) => {
    await upsertPeople({ db, media }, [data], time)
    await upsertPerson(db, { ...data, changedAt: data.changedAt ?? time })
  })
export const onFactsChanged = ({ db }: Deps) =>
  on(FactsChanged, async ({ data, time }) => await upsertFacts(db, { ...data, changedAt: data.changedAt ?? time }))
export const onSubscriptionChanged = ({ db }: Deps) =>
  on(SubscriptionChanged, async ({ data, sequence }) => await upsertSubscription(db, data, sequence))
