import { on } from '@tandem/bus-kit'
import { ActivityCanceled } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { storeCanceledActivity } from './snapshots.ts'

export const onActivityCanceled = ({ db }: Deps) =>
  on(ActivityCanceled, async ({ data }) => {
    if (data.reason === 'CANCELED') await storeCanceledActivity(db, data)
  })
