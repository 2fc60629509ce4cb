// From an event to the inbox row, and to the provider, at several rates, beside the same JetStream fetch with one bare insert:
// `TEST_DATABASE_URL=… node services/notification/bench/events.ts`. It starts NATS and Redis itself.
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectBus, record, startConsumers, startRelay, on } from '@tandem/bus-kit'
import { LevelReached } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { testDatabase } from '@tandem/database-kit/testing'
import { startNats, startRedis } from '@tandem/local/testing'
import { idleMailer } from '@tandem/mail-kit/testing'
import { createLogger } from '@tandem/service-kit'
import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { keepPeople } from '../people/actions.ts'
import { createPushes } from '../push/queue.ts'
import type { Tables } from '../schema.ts'
import { meetOthers } from '../testing.ts'

const SECONDS = 5
const PEOPLE = 1_000
const log = createLogger('bench', 'error')
const closers: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => closers.unshift(close) }

const [nats, redis] = await Promise.all([startNats(t), startRedis(t)])
const { url } = await testDatabase<Tables>(t, path.resolve(import.meta.dirname, '..'))
const db = connect<Tables>(url, { log })
const saying = connect<Tables>(url, { log, max: 2 })
t.teardown(() => db.destroy())
t.teardown(() => saying.destroy())
await sql`create table bare (account_id uuid not null, level integer not null, event_id uuid primary key)`.execute(db)

// When each level was written into the outbox, seen in the inbox, and handed to the provider.
const said = new Map<number, number>()
const pushed = new Map<number, number>()
const written = new Map<number, number>()

const accounts = Array.from({ length: PEOPLE }, () => randomUUID())
for (let from = 0; from < PEOPLE; from += 500) {
  await keepPeople(db, accounts.slice(from, from + 500).map((accountId) => ({ accountId, name: 'P', image: null, locale: 'en', timezone: 'Asia/Jakarta' })), new Date())
}
await sql`insert into devices (account_id, session_id, token, platform) select account_id, account_id, 'token-' || account_id, 'android' from people`.execute(db)

const ask = async () => { throw new Error('nobody is asked') }
const provider = {
  async send ({ title }: { title: string }) {
    pushed.set(Number(title.replaceAll(/\D/g, '')), performance.now())
    return { is: 'sent' as const }
  },
  async close () {}
}
const pushes = createPushes({ db, ask, provider, redisUrl: redis.url, log })
t.teardown(() => pushes.close())
const deps: Deps = {
  db,
  ask,
  mailer: idleMailer(),
  // What is offered was just committed.
  pushes: { ...pushes, offer: async (deliveries) => { offered.push(...deliveries.map(({ id }) => ({ id, at: performance.now() }))); await pushes.offer(deliveries) } },
  gatherLikesFor: 0,
  now: () => new Date()
}
const offered: { id: string, at: number }[] = []
pushes.start()

const speaker = connectBus(nats.url, { service: 'dashboard', log })
const hearer = connectBus(nats.url, { service: 'notification', log })
const bareHearer = connectBus(nats.url, { service: 'bare', log })
for (const bus of [speaker, hearer, bareHearer]) t.teardown(() => bus.close())
const relay = startRelay(speaker, saying)
t.teardown(() => relay.stop())
let level = 1

async function say (count: number) {
  await saying.transaction().execute(async (trx) => {
    for (let each = 0; each < count; each++) {
      level++
      said.set(level, performance.now())
      await record(trx, LevelReached, accounts[level % PEOPLE]!, { accountId: accounts[level % PEOPLE]!, level })
    }
  })
}

const at = (sorted: number[], part: number) => sorted.length === 0 ? NaN : sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
const show = (times: number[]) => {
  const sorted = times.toSorted((a, b) => a - b)
  return `p50 ${at(sorted, 0.5).toFixed(1)} ms, p99 ${at(sorted, 0.99).toFixed(1)} ms`
}

async function hearing (bare: boolean) {
  if (!bare) return meetOthers(hearer, deps)
  return startConsumers(bareHearer, db, [on(LevelReached, async ({ id, data }) => {
    await sql`insert into bare values (${data.accountId}, ${data.level}, ${id}) on conflict do nothing`.execute(db)
    written.set(data.level, performance.now())
  })])
}

async function settle (from: number, done: () => number) {
  const end = Date.now() + 30_000
  while (done() < level - from && Date.now() < end) await sleep(20)
}

for (const bare of [false, true]) {
  const consumers = await hearing(bare)
  await say(50)
  await sleep(4_000)
  for (const rate of [10, 100, 1_000]) {
    const from = level
    offered.length = 0
    const beganAt = performance.now()
    while (performance.now() - beganAt < SECONDS * 1_000) {
      const due = Math.floor((performance.now() - beganAt) / 1_000 * rate) - (level - from)
      if (due > 0) await say(Math.min(due, 50))
      await sleep(rate >= 1_000 ? 5 : 2)
    }
    const saidFor = (performance.now() - beganAt) / 1_000
    const heard = bare ? written : pushed
    await settle(from, () => [...heard.keys()].filter((each) => each > from).length)
    const levels = [...said.keys()].filter((each) => each > from)
    const toRow = bare
      ? levels.flatMap((each) => written.has(each) ? [written.get(each)! - said.get(each)!] : [])
      : await rowTimes(levels)
    const toPush = levels.flatMap((each) => pushed.has(each) ? [pushed.get(each)! - said.get(each)!] : [])
    const last = Math.max(...levels.map((each) => heard.get(each) ?? 0))
    console.log(`${bare ? 'bare insert' : 'inbox      '} asked ${rate}/s, said ${(levels.length / saidFor).toFixed(0)}/s, done ${(levels.length / ((last - beganAt) / 1_000)).toFixed(0)}/s: row ${show(toRow)}${bare ? '' : `; provider ${show(toPush)}`}`)
  }
  await consumers.stop()
}

/** The deliveries are offered right after the commit of their notice. */
async function rowTimes (levels: number[]) {
  const { rows } = await sql<{ id: string, level: number }>`
    select deliveries.id, (params ->> 'level')::int as level from deliveries join notices on notices.id = notice_id
    where (params ->> 'level')::int > ${levels[0]! - 1}`.execute(db)
  const levelOf = new Map(rows.map((row) => [row.id, row.level]))
  return offered.flatMap(({ id, at }) => levelOf.has(id) ? [at - said.get(levelOf.get(id)!)!] : [])
}

for (const close of closers) await close()
process.exit(0)
