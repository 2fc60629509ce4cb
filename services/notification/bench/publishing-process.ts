// Publishes events for the benchmark at a given rate, directly into an outbox that a relay empties.
import { setTimeout as sleep } from 'node:timers/promises'
import { connectBus, startStreamManager, startRelay, STREAM_MANAGER_USER } from '@tandem/bus-kit'
import { LevelReached } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { createLogger } from '@tandem/process-kit'
import { sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** Which events to publish: `count` levels starting at `from`, for one account after the other, `rate` per second. */
export interface Order {
  from: number
  count: number
  rate: number
  accounts: string[]
}
/** When the insert of each event started, in milliseconds since 1970. */
export interface Done {
  publishedAt: number[]
  tookMs: number
}

const MAX_BATCH = 200

const [databaseUrl = '', natsUrl = ''] = process.argv.slice(2)
const log = createLogger('bench', 'error')
const db = connect<Tables>(databaseUrl, { log, maxConnections: 3 })
startStreamManager(connectBus(natsUrl, { service: STREAM_MANAGER_USER, log }), ['dashboard'])
startRelay(connectBus(natsUrl, { service: 'dashboard', log }), db)

process.on('message', (order: Order) => void publish(order).then((done: Done) => process.send?.(done)))
process.on('disconnect', () => process.exit())

async function publish ({ from, count, rate, accounts }: Order) {
  const publishedAt: number[] = []
  const startedAt = performance.now()
  while (publishedAt.length < count) {
    const due = Math.min(count, Math.floor((performance.now() - startedAt) / 1_000 * rate) + 1) - publishedAt.length
    if (due > 0) {
      const at = performance.timeOrigin + performance.now()
      const levels = Array.from({ length: Math.min(due, MAX_BATCH) }, (_, each) => from + publishedAt.length + each)
      const subjects = levels.map((level) => accounts[level % accounts.length])
      await sql`
        insert into outbox (type, subject, data)
        select ${LevelReached.type}, account, jsonb_build_object('accountId', account, 'level', level)
        from unnest(${subjects}::text[], ${levels}::integer[]) as event (account, level)`.execute(db)
      for (const _ of levels) publishedAt.push(at)
    } else await sleep(1)
  }
  return { publishedAt, tookMs: performance.now() - startedAt }
}
