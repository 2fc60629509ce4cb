import { sql, type RawBuilder } from 'kysely'
import { createQueryGauge, type QueryGaugeSource } from '@tandem/database-kit'
import type { CaseTables } from './tables.ts'

/** The services of this process that have cases. */
export const caseSources = new Set<QueryGaugeSource<CaseTables>>()

function createCaseGauge (name: string, help: string, condition: RawBuilder<unknown>) {
  createQueryGauge({
    name,
    help,
    sources: caseSources,
    query: async (db) => {
      const { rows } = await sql<{ value: number }>`
        select count(*) as value from cases where resolved_at is null and ${condition}`.execute(db)
      return rows[0]
    }
  })
}
createCaseGauge('cases_open', 'Cases that nobody has decided yet', sql`true`)
createCaseGauge('cases_overdue', 'Open cases that should have been decided by now', sql`due_at < now()`)
