import { randomUUIDv7 } from 'node:crypto'
import { sql } from 'kysely'
import { runPeriodically, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { createWebhook } from './actions.ts'

const INTERVAL_MS = 5 * 60 * 1_000
const HOUR_MS = 60 * 60 * 1_000

/** Reports how many matches were made in each hour that is over. */
export const startMatchCounts = (deps: Deps, log: Log) =>
  runPeriodically(async () => await reportMatchCounts(deps), { intervalMs: INTERVAL_MS, log })

/** Sends the counts of the hours that are over. A match whose event is late is in another count of its hour. */
export async function reportMatchCounts ({ db, webhooks }: Pick<Deps, 'db' | 'webhooks'>) {
  const deliveries = await db.transaction().execute(async (trx) => {
    const hours = await trx.deleteFrom('webhook_match_counts')
      .where('hour', '<', sql<Date>`date_trunc('hour', now(), 'UTC')`)
      .returning(['hour', 'count']).execute()
    const ids: string[] = []
    for (const { hour, count } of hours) {
      const to = new Date(hour.getTime() + HOUR_MS)
      ids.push(
        ...await createWebhook(trx, {
          id: randomUUIDv7(),
          type: 'match.created',
          accountId: null,
          data: { count, from: hour.toISOString(), to: to.toISOString() },
          occurredAt: to
        })
      )
    }
    return ids
  })
  await webhooks.enqueue(deliveries)
}
