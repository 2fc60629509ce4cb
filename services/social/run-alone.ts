import { sql } from 'kysely'
import type { Db, Trx } from './tables.ts'

/** However many posts a week has, work that is repeated in the background uses at most this share of one connection. */
export const MAX_TIME_SHARE = 1 / 50

/** Does `work` in a transaction, unless a process is doing the work of this name now. */
export async function runAlone (db: Db, name: string, work: (trx: Trx) => Promise<void>) {
  await db.transaction().execute(async (trx) => {
    const { rows: [lock] } = await sql<{ isAcquired: boolean }>`
      select pg_try_advisory_xact_lock(hashtext(current_schema()), hashtext(${name})) as "isAcquired"`.execute(trx)
    if (lock?.isAcquired) await work(trx)
  })
}
