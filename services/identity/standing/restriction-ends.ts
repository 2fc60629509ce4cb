import { sql } from 'kysely'
import { runWhenDue, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { setHidden } from '../hidden.ts'
import type { Db } from '../tables.ts'

const MAX_INTERVAL_MS = 30_000

/** Shows people again at the time when the restriction of their account ends. */
export const startEndingRestrictions = ({ db }: Pick<Deps, 'db'>, log: Log) =>
  runWhenDue(async () => await endRestrictions(db), {
    findNext: async () => await findNextEnd(db),
    maxIntervalMs: MAX_INTERVAL_MS,
    log
  }).stop

async function findNextEnd (db: Db) {
  const next = await db.selectFrom('accounts').where('restricted_until', 'is not', null)
    .select('restricted_until as at').orderBy('restricted_until').limit(1).executeTakeFirst()
  return next?.at
}

async function endRestrictions (db: Db) {
  await db.transaction().execute(async (trx) => {
    const ended = await trx.selectFrom('accounts').where('restricted_until', '<=', sql<Date>`now()`).select('id')
      .limit(500).forNoKeyUpdate().skipLocked().execute()
    for (const { id } of ended) await setHidden(trx, id, { restricted_until: null })
  })
}
