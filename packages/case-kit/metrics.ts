import { sql, type Kysely } from 'kysely'
import { Gauge } from 'prom-client'
import type { CaseTables } from './tables.ts'

/** The services of this process, and their databases. */
export const caseSources = new Map<string, Kysely<CaseTables>>()

const overdue = new Gauge({
  name: 'cases_overdue',
  help: 'Open cases that should have been decided by now',
  labelNames: ['service'] as const
})

new Gauge({
  name: 'cases_open',
  help: 'Cases that nobody has decided yet',
  labelNames: ['service'] as const,
  async collect () {
    for (const [service, db] of caseSources) {
      const { rows: [counts] } = await sql<{ open: number, overdue: number }>`
        select count(*) as open, count(*) filter (where due_at < now()) as overdue from cases
        where resolved_at is null`.execute(db)
      this.set({ service }, counts?.open ?? 0)
      overdue.set({ service }, counts?.overdue ?? 0)
    }
  }
})
