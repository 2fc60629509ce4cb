import { sql } from 'kysely'
import { createQueryGauge, type QueryGaugeSource } from '@tandem/database-kit'
import type { ErasureTables } from './tables.ts'

/** The services of this process that erase. */
export const erasureSources = new Set<QueryGaugeSource<ErasureTables>>()

createQueryGauge({
  name: 'account_erasure_oldest_seconds',
  help: 'How long the oldest unfinished erasure of an account has been running in the service; 0 without one',
  sources: erasureSources,
  query: async (db) =>
    await db.selectFrom('departures').where('erased_at', 'is', null)
      .select(sql<number>`coalesce(extract(epoch from now() - min(created_at)), 0)::float8`.as('value'))
      .executeTakeFirst()
})
