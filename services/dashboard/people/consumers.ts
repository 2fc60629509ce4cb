import { on } from '@tandem/bus-kit'
import { PersonChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { upsertPerson } from './actions.ts'

export const onPersonChanged = ({ db, cache }: Deps) => on(PersonChanged, async ({ data, time }) => {
  await upsertPerson(db, data, time)
  // Another time zone may mean another today.
  await cache.forget(data.accountId)
})
