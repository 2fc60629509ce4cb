// Says events for the benchmark beside it, in a process of its own: as many a second as it is told, straight into an outbox that a relay empties.
import { setTimeout as sleep } from 'node:timers/promises'
import { connectBus, startStreamManager, startRelay, STREAM_MANAGER_USER } from '@tandem/bus-kit'
import { LevelReached } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { createLogger } from '@tandem/service-kit'
import { sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** What is to be said: the levels from `from` on, one for each account in turn. */
export interface Order { from: number, count: number, rate: number, accounts: string[] }
/** When the statement that said each was begun, in milliseconds since 1970. */
export interface Done { saidAt: number[], took: number }

const AT_MOST = 200

const [databaseUrl = '', natsUrl = ''] = process.argv.slice(2)
const log = createLogger('bench', 'error')
const db = connect<Tables>(databaseUrl, { log, maxConnections: 3 })
startStreamManager(connectBus(natsUrl, { service: STREAM_MANAGER_USER, log }), ['dashboard'])
startRelay(connectBus(natsUrl, { service: 'dashboard', log }), db)

process.on('message', (order: Order) => void say(order).then((done: Done) => process.send?.(done)))
process.on('disconnect', () => process.exit())

async function say ({ from, count, rate, accounts }: Order) {
  const saidAt: number[] = []
  const began = performance.now()
  while (saidAt.length < count) {
    const due = Math.min(count, Math.floor((performance.now() - began) / 1_000 * rate) + 1) - saidAt.length
    if (due > 0) {
      const at = performance.timeOrigin + performance.now()
      const levels = Array.from({ length: Math.min(due, AT_MOST) }, (_, each) => from + saidAt.length + each)
      const subject = levels.map((level) => accounts[level % accounts.length])
      await sql`
        insert into outbox (type, aggregate, data)
        select ${LevelReached.type}, account, jsonb_build_object('accountId', account, 'level', level)
        from unnest(${subject}::text[], ${levels}::integer[]) as said (account, level)`.execute(db)
      for (const _ of levels) saidAt.push(at)
    } else await sleep(1)
  }
  return { saidAt, took: performance.now() - began }
}
