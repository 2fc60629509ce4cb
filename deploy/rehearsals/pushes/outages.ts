import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { createLevels, publishPaced, waitUntilDelivered, type PublishedEvent } from './load.ts'
import { createPeople } from './people.ts'
import type { World } from './world.ts'
import { report } from './report.ts'

const PER_SECOND = 50

/** Redis is emptied five times under load, and later unavailable for a minute. */
export async function redisOutage (world: World) {
  const { db, redis } = world
  const accounts = await createPeople(db, 1_000, 1)
  const publish = async (from: number, count: number) =>
    await publishPaced(db, createLevels(accounts, count, from), PER_SECOND)
  await publish(0, 250)

  const publishing = publish(250, 1_500)
  for (let times = 0; times < 5; times++) {
    await sleep(5_000)
    await emptyRedis(redis.url)
  }
  const beside = await publishing
  await waitUntilDelivered(world, 120)
  report(world, `Redis emptied five times at ${PER_SECOND} a second`, beside, 60_000)

  const publishingLater = publish(1_750, 4_000)
  await sleep(10_000)
  await redis.stop()
  const stoppedAt = Date.now()
  await sleep(60_000)
  const { rows: [created] } = await sql<{ count: number }>`
    select count(*)::int as count from notification.notifications
    where created_at > to_timestamp(${stoppedAt / 1_000}::float8)`.execute(db)
  await redis.start()
  const startedAt = Date.now()
  const published = await publishingLater
  await waitUntilDelivered(world, 120)
  console.log(`${created?.count} notifications were created while Redis was unavailable`)
  const delayed = countFromRestart(published, stoppedAt - 1_000, startedAt)
  report(world, 'Redis unavailable for 60 s; from its restart', delayed, 30_000)
}

/** NATS is unavailable for half a minute. */
export async function natsOutage (world: World) {
  const { db, nats } = world
  const accounts = await createPeople(db, 1_000, 1)
  const publishing = publishPaced(db, createLevels(accounts, 3_000), PER_SECOND)
  await sleep(10_000)
  await nats.stop()
  const stoppedAt = Date.now()
  await sleep(30_000)
  await nats.start()
  const startedAt = Date.now()
  const published = await publishing
  await waitUntilDelivered(world, 60, published.length)
  const delayed = countFromRestart(published, stoppedAt - 500, startedAt)
  report(world, 'NATS unavailable for 30 s; from its restart', delayed, 10_000)
}

/** The events that were published during an outage, as if they had been published no earlier than its end. */
function countFromRestart (published: PublishedEvent[], from: number, restart: number) {
  return published.filter(({ at }) => at > from && at < restart)
    .map((event) => ({ ...event, at: Math.max(event.at, restart) }))
}

async function emptyRedis (url: string) {
  const client = new Redis(url)
  await client.flushall()
  client.disconnect()
}
