import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { FastFinished } from '@tandem/contracts'
import { runWhenDue, type Log } from '@tandem/process-kit'
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

/** Publishes every reached goal once. Several processes share the rows, and a process that crashes returns its own. */
export async function publishReachedGoals (db: Db, now: () => Date) {
  let published: number
  do {
    published = await publishBatch(db, now())
  } while (published === BATCH_SIZE)
}

async function publishBatch (db: Db, now: Date) {
  return await db.transaction().execute(async (trx) => {
    const due = await trx.selectFrom('fasts').where('goal_due_at', '<=', now)
      .select(['id', 'account_id as accountId', 'goal_hours as goalHours'])
      .orderBy('goal_due_at').limit(BATCH_SIZE)
      .forUpdate().skipLocked()
      .execute()
    if (due.length === 0) return 0
    const ids = due.map(({ id }) => id)
    await trx.updateTable('fasts').where('id', '=', sql<string>`any(${ids}::uuid[])`)
      .set({ goal_due_at: null, goal_published_at: now })
      .execute()
    for (const { id, accountId, goalHours } of due) {
      await publish(trx, FastFinished, id, { accountId, fastId: id, goalHours })
    }
    return due.length
  })
}
