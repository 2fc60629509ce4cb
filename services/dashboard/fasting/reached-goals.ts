import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { FastFinished } from '@tandem/contracts'
import { findNextDue, workLocked } from '@tandem/database-kit'
import { runWhenDue, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import type { Db, Trx } from '../tables.ts'

const MAX_INTERVAL_MS = 10_000
const BATCH_SIZE = 100

/** Publishes the goals of running fasts when they are reached. */
export const startPublishingReachedGoals = ({ db, now }: Deps, log: Log) =>
  runWhenDue(async () => await publishReachedGoals(db, now), {
    findNext: async () => await findNextDue(db, 'fasts', 'goal_due_at'),
    maxIntervalMs: MAX_INTERVAL_MS,
    now,
    log
  }).stop

/** Publishes every reached goal once. @throws the errors of those that failed, which stay due, after all others */
export async function publishReachedGoals (db: Db, now: () => Date) {
  const at = now()
  await workLocked(db, {
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('fasts').where('goal_due_at', '<=', at)
        .where('id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .select(['id', 'account_id as accountId', 'goal_hours as goalHours'])
        .orderBy('goal_due_at').limit(BATCH_SIZE)
        .forUpdate().skipLocked()
        .execute(),
    async work (trx, fasts) {
      const ids = fasts.map(({ id }) => id)
      await trx.updateTable('fasts').where('id', '=', sql<string>`any(${ids}::uuid[])`)
        .set({ goal_due_at: null, goal_published_at: at })
        .execute()
      for (const { id, accountId, goalHours } of fasts) {
        await publish(trx, FastFinished, id, { accountId, fastId: id, goalHours })
      }
    }
  })
}
