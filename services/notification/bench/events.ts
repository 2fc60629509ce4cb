// Compares the path of an event to its notification and its push with its goals, at default settings: the time at 2,000
// events a second, and the maximum rate while they are being published, beside commits of an outbox row alone that
// pgbench sends. `TEST_DATABASE_URL=… node services/notification/bench/events.ts [events]`. It starts NATS, Redis and a
// publishing process itself, and exits with 1 if a goal is missed. `--bare` also measures the same JetStream fetch with
// one bare insert for each event. With `--live`, everybody has a realtime connection, so each notification also logs a
// frame and wakes a gateway.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connectBus, on, startConsumers, type Handler } from '@tandem/bus-kit'
import { publishSignal } from '@tandem/bus-kit/realtime'
import { LevelReached } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { testDatabase } from '@tandem/database-kit/testing'
import { startNats, startRedis } from '@tandem/test-kit'
import { median, openLogFile, percentile, reportGoals, runPgbench, type Goal } from '@tandem/test-kit/measure'
import { createMediaUrls } from '@tandem/http-kit'
import { fakeMailer } from '@tandem/mail-kit/testing'
import { createLogger } from '@tandem/process-kit'
import { sql } from 'kysely'
import { createHandlers } from '../app.ts'
import type { Deps } from '../deps.ts'
import { upsertPeople } from '../people/copies.ts'
import type { Push } from '../push/provider.ts'
import { createPushQueue } from '../push/create-push-queue.ts'
import type { Tables } from '../tables.ts'
import type { Done, Order } from './publishing-process.ts'
import { createNotificationDepartures } from '../departures.ts'

const SECONDS = 8
const RATE = 2_000
const ROUNDS = 3
const PEOPLE = 1_000
const WRITERS = 16
const { values: { bare, live }, positionals } = parseArgs({
  options: { bare: { type: 'boolean' }, live: { type: 'boolean' } },
  allowPositionals: true
})
const EVENTS = Number(positionals[0] ?? 20_000)
const closers: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => closers.unshift(close) }
const log = createLogger('notification', undefined, openLogFile(t))
const now = () => performance.timeOrigin + performance.now()

const [nats, redis] = await Promise.all([startNats(t), startRedis(t)])
const { url } = await testDatabase<Tables>(t, path.resolve(import.meta.dirname, '..'))
const db = connect<Tables>(url, { log })
t.teardown(() => db.destroy())
await sql`create table bare (account_id uuid not null, level integer not null, event_id uuid primary key)`.execute(db)

const accounts = Array.from({ length: PEOPLE }, () => randomUUID())
const mediaUrls = createMediaUrls('http://localhost/media')
await upsertPeople(
  { db, mediaUrls },
  accounts.map((accountId) => ({ accountId, name: 'P', image: null, locale: 'en', timezone: 'Asia/Jakarta' })),
  new Date()
)
await sql`
  insert into devices (account_id, session_id, token, platform)
  select account_id, account_id, 'token-' || account_id, 'android' from people`.execute(db)

if (live) {
  await sql`
    insert into unread_counts (account_id, realtime_epoch, realtime_until)
    select account_id, 'bench', now() + interval '1 day' from people
    on conflict (account_id) do update
      set realtime_epoch = excluded.realtime_epoch, realtime_until = excluded.realtime_until`.execute(db)
}
const signals = connectBus(nats.url, { service: 'notification', log })
t.teardown(() => signals.close())

// When each level was in the inbox or the bare table, and when the provider received it.
const rowAt = new Map<number, number>()
const pushedAt = new Map<number, number>()

const provider = {
  async send ({ title }: Push) {
    pushedAt.set(Number(title.replaceAll(/\D/g, '')), now())
    return { type: 'sent' as const }
  },
  async close () {}
}
const callRpc = async () => {
  throw new Error('unexpected call')
}
const findPeople = async () => []
const pushes = createPushQueue({ db, findPeople, provider, redisUrl: redis.url, log })
t.teardown(() => pushes.close())
const departures = createNotificationDepartures({ db, callRpc })
const deps: Deps = {
  db,
  callRpc,
  findPeople,
  mailer: fakeMailer(),
  mediaUrls,
  publicUrl: 'http://localhost',
  pushes,
  likeDigestMs: 0,
  now: () => new Date(),
  fourEyes: new Set(),
  departures,
  wakeUp: (signal) => publishSignal(signals, signal),
  log
}
const publisher = fork(new URL('publishing-process.ts', import.meta.url), [url, nats.url])
t.teardown(() => publisher.kill())
let publishedEvents = 1

async function publish (count: number, rate: number): Promise<Done> {
  const order: Order = { from: publishedEvents + 1, count, rate, accounts }
  publishedEvents += count
  publisher.send(order)
  const [done] = await once(publisher, 'message') as [Done]
  return done
}

function consume (service: string, handlers: Handler[]) {
  const bus = connectBus(nats.url, { service, log })
  const consumers = startConsumers(bus, db, handlers)
  return async () => {
    await consumers.stop()
    await bus.close()
  }
}

// The handler returns right after its commit and after enqueueing to Redis.
const measuredHandlers = () =>
  createHandlers(deps).map((handler) =>
    handler.event !== LevelReached ? handler : {
      ...handler,
      handle: async (message: Parameters<Handler['handle']>[0]) => {
        await handler.handle(message)
        rowAt.set((message.data as { level: number }).level, now())
      }
    }
  )
const bareHandlers = () => [on(LevelReached, async ({ id, data }) => {
  await sql`insert into bare values (${data.accountId}, ${data.level}, ${id}) on conflict do nothing`.execute(db)
  rowAt.set(data.level, now())
})]

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, each) => from + each)

async function until (times: Map<number, number>, from: number, count: number) {
  const deadline = Date.now() + 120_000
  while (Date.now() < deadline && numbers(from, count).some((each) => !times.has(each))) await sleep(50)
}

interface Latency {
  rowMs: number[]
  pushMs: number[]
}

/** Measures the time from the commit of each event to its row and to the provider, at a steady rate. */
async function measureLatency (name: string, handlers: Handler[], isPushed: boolean): Promise<Latency> {
  const stop = consume(name, handlers)
  // After these it has caught up with the events of earlier measurements, and the code is compiled.
  await publish(RATE * 2, RATE)
  await until(rowAt, publishedEvents - RATE * 2 + 1, RATE * 2)
  const from = publishedEvents + 1
  const { publishedAt } = await publish(RATE * SECONDS, RATE)
  await until(isPushed ? pushedAt : rowAt, from, RATE * SECONDS)
  await stop()
  const since = (times: Map<number, number>) => publishedAt.map((at, each) => (times.get(from + each) ?? Infinity) - at)
  return { rowMs: since(rowAt), pushMs: since(pushedAt) }
}

/** Measures how many events a second have their row, and their push, while they are published as fast as possible. */
async function measureRate (name: string, handlers: Handler[], isPushed: boolean) {
  const stop = consume(name, handlers)
  await publish(1, 1)
  await until(rowAt, publishedEvents, 1)
  const from = publishedEvents + 1
  const startedAt = now()
  const cpu = process.cpuUsage()
  await publish(EVENTS, 1_000_000)
  await until(isPushed ? pushedAt : rowAt, from, EVENTS)
  const { user, system } = process.cpuUsage(cpu)
  await stop()
  const times = isPushed ? pushedAt : rowAt
  const lastAt = Math.max(...numbers(from, EVENTS).map((each) => times.get(each) ?? Infinity))
  return { perSecond: EVENTS / (lastAt - startedAt) * 1_000, cpuUs: (user + system) / EVENTS }
}

/** How many commits of an outbox row a second pgbench makes. */
async function commitOutbox () {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-events-'))
  try {
    const file = path.join(folder, 'outbox.sql')
    await writeFile(
      file,
      `insert into bare_outbox (type, subject, data) values ('a.b.c.v1', '${accounts[0]}',
        '${JSON.stringify({ accountId: accounts[0], level: 1 })}');`.replaceAll(/\s+/g, ' ')
    )
    return (await runPgbench(url, [file], { clients: WRITERS, seconds: 3 })).perSecond
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

await sql`create table bare_outbox (like outbox including all)`.execute(db)
pushes.start()
const goals: Goal[] = []
const { rowMs, pushMs } = await measureLatency('notification', measuredHandlers(), true)
const reference = `commit at ${RATE}/s to the provider: p50 ${percentile(pushMs, 50).toFixed(1)}, ` +
  `p99 ${percentile(pushMs, 99).toFixed(1)} ms`
goals.push(
  { name: 'event to notification row, p50', reference, figure: percentile(rowMs, 50), unit: 'ms', atMost: 10 },
  { name: 'event to notification row, p99', reference, figure: percentile(rowMs, 99), unit: 'ms', atMost: 25 }
)
if (bare) {
  const { rowMs } = await measureLatency('bare', bareHandlers(), false)
  console.log(`bare insert: p50 ${percentile(rowMs, 50).toFixed(1)}, p99 ${percentile(rowMs, 99).toFixed(1)} ms`)
  const { perSecond, cpuUs } = await measureRate('bare', bareHandlers(), false)
  console.log(`bare insert: ${perSecond.toFixed(0)} events/s, ${cpuUs.toFixed(0)} µs of CPU for each`)
}
const rounds: { perSecond: number, cpuUs: number, commits: number }[] = []
for (let round = 0; round < ROUNDS; round++) {
  rounds.push({ commits: await commitOutbox(), ...await measureRate('notification', measuredHandlers(), true) })
}
const of = (figureOf: (round: typeof rounds[number]) => number) => median(rounds.map(figureOf))
goals.push({
  name: 'events published, notified and pushed',
  reference: `pgbench, commits of an outbox row by ${WRITERS}: ${
    of((each) => each.commits).toFixed(0)
  } per second, not ` +
    `${of((each) => each.perSecond).toFixed(0)}; ${of((each) => each.cpuUs).toFixed(0)} µs of CPU for each`,
  figure: of((each) => each.perSecond / each.commits),
  atLeast: 0.3
})
reportGoals(goals)

for (const close of closers) await close()
process.exit()
