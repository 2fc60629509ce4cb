import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { FastFinished } from '@tandem/contracts'
import { runWhenDue, throwErrors, type Log } from '@tandem/process-kit'
import { inSavepoints, type FailedItem } from '@tandem/database-kit'
import type { Deps } from '../deps.ts'
import type { Db } from '../tables.ts'

const MAX_INTERVAL_MS = 10_000
const BATCH_SIZE = 100

/** Publishes the goals of running fasts when they are reached. */
export const startPublishingReachedGoals = ({ db, now }: Deps, log: Log) =>
  runWhenDue(async () => await publishReachedGoals(db, now), {
    findNext: async () => await findNext(db),
    maxIntervalMs: MAX_INTERVAL_MS,
    now,
    log
  }).stop

async function findNext (db: Db) {
  const next = await db.selectFrom('fasts').where('goal_due_at', 'is not', null).select('goal_due_at as at')
    .orderBy('goal_due_at').limit(1).executeTakeFirst()
  return next?.at
}

/**
 * Publishes every reached goal once. Several processes share the rows, and a process that crashes returns its own.
 * @throws the errors of those that failed, which stay due, after all others are published
 */
export async function publishReachedGoals (db: Db, now: () => Date) {
  const failures: FailedItem<{ id: string }>[] = []
  let done: number
  do {
    done = await publishBatch(db, now(), failures)
  } while (done === BATCH_SIZE)
  throwErrors(failures.map(({ error }) => error))
}

async function publishBatch (db: Db, now: Date, failures: FailedItem<{ id: string }>[]) {
  const failedIds = failures.map(({ item }) => item.id)
  return await db.transaction().execute(async (trx) => {
    const due = await trx.selectFrom('fasts').where('goal_due_at', '<=', now)
      .where('id', '<>', sql<string>`all(${failedIds}::uuid[])`)
      .select(['id', 'account_id as accountId', 'goal_hours as goalHours'])
      .orderBy('goal_due_at').limit(BATCH_SIZE)
      .forUpdate().skipLocked()
      .execute()
    const outcome = await inSavepoints(trx, due, async (fasts) => {
      const ids = fasts.map(({ id }) => id)
      await trx.updateTable('fasts').where('id', '=', sql<string>`any(${ids}::uuid[])`)
        .set({ goal_due_at: null, goal_published_at: now })
        .execute()
      for (const { id, accountId, goalHours } of fasts) {
        await publish(trx, FastFinished, id, { accountId, fastId: id, goalHours })
      }
    })
    failures.push(...outcome.failures)
    return due.length
  })
}
