import { sql } from 'kysely'
import { createQueryGauge, type QueryGaugeSource } from '@tandem/database-kit'
import { Degraded } from '@tandem/process-kit'
import type { Db, Tables } from '../tables.ts'

// The third retry is seven minutes after the first attempt. A single device that the provider throttles recovers sooner.
const MAX_WAIT_SECONDS = 10 * 60

export const pushSources = new Set<QueryGaugeSource<Tables>>()

// A push that waits for its first attempt, or for the end of quiet hours, has no reason yet.
const isDelayed = sql`status = 'pending' and reason is not null`

createQueryGauge({
  name: 'notification_pushes_delayed',
  help: 'Pushes that the provider has not accepted yet, and that will be retried',
  sources: pushSources,
  query: async (db) => {
    const { rows: [row] } = await sql<{ value: number }>`select count(*) as value from deliveries where ${isDelayed}`
      .execute(db)
    return row
  }
})

createQueryGauge({
  name: 'notification_push_oldest_seconds',
  help: 'Age of the oldest push that the provider has not accepted yet',
  sources: pushSources,
  query: async (db) => {
    const { rows: [row] } = await sql<{ value: number }>`
      select extract(epoch from now() - created_at)::float8 as value from deliveries where ${isDelayed}
      order by id limit 1`.execute(db)
    return row
  }
})

interface Backlog {
  count: number
  oldestSeconds: number | null
  reason: string | null
}

/**
 * A health check of the pushes.
 * @throws Degraded with the number of delayed pushes and the last reason, if one has waited for more than ten minutes
 */
export async function checkPushBacklog (db: Db) {
  const { rows: [backlog] } = await sql<Backlog>`
    select count(*) as count, extract(epoch from now() - min(created_at))::float8 as "oldestSeconds",
      (array_agg(reason order by id desc))[1] as reason
    from deliveries where ${isDelayed}`.execute(db)
  const { count = 0, oldestSeconds, reason } = backlog ?? {}
  if (!oldestSeconds || oldestSeconds <= MAX_WAIT_SECONDS) return
  throw new Degraded(
    `${count} pushes are delayed, the oldest for ${Math.round(oldestSeconds)} s; last reason: ${reason}`
  )
}
