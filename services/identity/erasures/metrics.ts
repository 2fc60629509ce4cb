import { sql } from 'kysely'
import { Gauge } from 'prom-client'
import type { Db } from '../tables.ts'

/** The database of this process, once it erases. */
export const deletionSource: { db?: Db } = {}

new Gauge({
  name: 'account_deletion_oldest_seconds',
  help: 'How long ago the oldest deletion was requested that has not ended; those on hold do not count',
  async collect () {
    if (deletionSource.db) this.set(await readOldestSeconds(deletionSource.db))
  }
})

export async function readOldestSeconds (db: Db) {
  const { rows: [oldest] } = await sql<{ seconds: number }>`
    select coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as seconds
    from erasures where status in ('SCHEDULED', 'RUNNING')`.execute(db)
  return oldest!.seconds
}
