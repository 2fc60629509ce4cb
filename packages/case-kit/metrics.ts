import { sql, type Kysely, type RawBuilder } from 'kysely'
import { Gauge } from 'prom-client'
import type { CaseTables } from './tables.ts'

/** The services of this process, and their databases. */
export const caseSources = new Map<string, Kysely<CaseTables>>()

createCaseGauge('cases_open', 'Cases that nobody has decided yet', sql`true`)
createCaseGauge('cases_overdue', 'Open cases that should have been decided by now', sql`due_at < now()`)

function createCaseGauge (name: string, help: string, condition: RawBuilder<unknown>) {
  new Gauge({
    name,
    help,
    labelNames: ['service'] as const,
    async collect () {
      for (const [service, db] of caseSources) {
        const { rows: [counted] } = await sql<{ count: number }>`
          select count(*) as count from cases where resolved_at is null and ${condition}`.execute(db)
        this.set({ service }, counted?.count ?? 0)
      }
    }
  })
}
