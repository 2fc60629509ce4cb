import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connect, type JetStreamManager } from 'nats'
import type { Database } from './postgres.ts'

/** Waits until every event in the outboxes is published, consumed and acknowledged. */
export async function waitUntilConsumed (database: Database, natsUrl: string, services: readonly string[]) {
  const unpublished = services
    .map((service) => `select count(*)::int as count from ${service}.outbox where published_at is null`)
    .join(' union all ')
  await withStreams(natsUrl, async (manager) => {
    // Consumers publish events too, so nothing is over until the count was zero five times in a row.
    for (let zeroCounts = 0; zeroCounts < 5; await sleep(200)) {
      const { rows } = await database.withClient(async (client) => await client.query<{ count: number }>(unpublished))
      const waiting = rows.reduce((sum, { count }) => sum + count, 0) + await countUnconsumed(manager)
      zeroCounts = waiting === 0 ? zeroCounts + 1 : 0
    }
  })
}

async function countUnconsumed (manager: JetStreamManager) {
  let count = 0
  for await (const { config } of manager.streams.list()) {
    for await (const consumer of manager.consumers.list(config.name)) {
      count += consumer.num_pending + consumer.num_ack_pending
    }
  }
  return count
}

/** Prepares NATS for a restored database with recovery-cli.ts, as operators do. */
export async function recover (natsUrl: string, ...args: string[]) {
  await promisify(execFile)(process.execPath, ['packages/bus-kit/recovery-cli.ts', ...args], {
    env: { ...process.env, NATS_URL: natsUrl }
  })
}

async function withStreams (natsUrl: string, work: (manager: JetStreamManager) => Promise<void>) {
  const connection = await connect({ servers: natsUrl })
  try {
    await work(await connection.jetstreamManager())
  } finally {
    await connection.close()
  }
}
