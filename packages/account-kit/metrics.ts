import { sql, type Kysely } from 'kysely'
import { Gauge } from 'prom-client'
import type { ErasureTables } from './tables.ts'

/** The services of this process, and their databases. */
export const erasureSources = new Map<string, Kysely<ErasureTables>>()

new Gauge({
  name: 'account_erasure_oldest_seconds',
  help: 'How long the oldest unfinished erasure of an account has been running in the service; 0 without one',
  labelNames: ['service'] as const,
  async collect () {
    for (const [service, db] of erasureSources) {
      const { rows: [oldest] } = await sql<{ seconds: number }>`
        select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
        from departures where erased_at is null`.execute(db)
      this.set({ service }, oldest?.seconds ?? 0)
    }
  }
})
