import { sql } from 'kysely'
import { findNextDue, workLocked } from '@tandem/database-kit'
import { runWhenDue, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { setHidden } from '../hidden.ts'
import type { Db, Trx } from '../tables.ts'

const MAX_INTERVAL_MS = 30_000
const BATCH_SIZE = 100

/** Shows people again at the time when the restriction of their account ends. */
export const startEndingRestrictions = ({ db }: Pick<Deps, 'db'>, log: Log) =>
  runWhenDue(async () => await endRestrictions(db), {
    findNext: async () => await findNextDue(db, 'accounts', 'restricted_until'),
    maxIntervalMs: MAX_INTERVAL_MS,
    log
  }).stop

async function endRestrictions (db: Db) {
  await workLocked(db, {
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('accounts').where('restricted_until', '<=', sql<Date>`now()`)
        .where('id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .select('id')
        .orderBy('restricted_until').limit(BATCH_SIZE)
        .forNoKeyUpdate().skipLocked()
        .execute(),
    async work (trx, accounts) {
      for (const { id } of accounts) await setHidden(trx, id, { restricted_until: null })
    }
  })
}
