import { RateLimited } from '@tandem/http-kit'
import { sql } from 'kysely'
import type { Db } from '../tables.ts'
import type { Producer } from './queries.ts'

/** So that a producer with a small rate can send a full batch. */
const MIN_BURST = 100

/**
 * Takes `count` events from the rate of a producer, all or none. It is one statement, so that requests to several
 * processes share one rate. @throws RateLimited
 */
export async function takeFromRate (db: Db, { id, eventsPerSecond }: Producer, count: number) {
  const burst = Math.max(eventsPerSecond, MIN_BURST)
  const refilled = sql`least(
    ${burst}, rate.left_over + ${eventsPerSecond} * greatest(0, extract(epoch from clock_timestamp() - rate.counted_at)))`
  const { rows } = await sql`
    insert into producer_rates as rate (producer_id, left_over, counted_at)
    values (${id}, ${burst - count}, clock_timestamp())
    on conflict (producer_id) do update set left_over = ${refilled} - ${count}, counted_at = clock_timestamp()
      where ${refilled} >= ${count}
    returning producer_id`.execute(db)
  if (rows.length === 0) throw new RateLimited(Math.ceil(count / eventsPerSecond))
}
