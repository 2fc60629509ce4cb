// Measures the time from an event to its notification and to the provider at several rates, and the maximum throughput.
// Baselines: the same JetStream fetch with one bare insert for each event, and commits of an outbox row alone.
// `TEST_DATABASE_URL=… node services/notification/bench/events.ts [backlog size]`. It starts NATS, Redis and a
// publishing process itself.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectBus, on, startConsumers, type Handler } from '@tandem/bus-kit'
import { LevelReached } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { testDatabase } from '@tandem/database-kit/testing'
import { startNats, startRedis } from '@tandem/test-kit'
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

const SECONDS = 10
const PEOPLE = 1_000
const BACKLOG = Number(process.argv[2] ?? 20_000)
const WRITERS = 16
const log = createLogger('bench', 'error')
const closers: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => closers.unshift(close) }
const now = () => performance.timeOrigin + performance.now()

const [nats, redis] = await Promise.all([startNats(t), startRedis(t)])
const { url } = await testDatabase<Tables>(t, path.resolve(import.meta.dirname, '..'))
const db = connect<Tables>(url, { log })
t.teardown(() => db.destroy())
await sql`create table bare (account_id uuid not null, level integer not null, event_id uuid primary key)`.execute(db)

const accounts = Array.from({ length: PEOPLE }, () => randomUUID())
await upsertPeople(
  db,
  accounts.map((accountId) => ({ accountId, name: 'P', image: null, locale: 'en', timezone: 'Asia/Jakarta' })),
  new Date()
)
await sql`
  insert into devices (account_id, session_id, token, platform)
  select account_id, account_id, 'token-' || account_id, 'android' from people`.execute(db)

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
  publicUrl: 'http://localhost',
  pushes,
  likeDigestMs: 0,
  now: () => new Date(),
  fourEyes: new Set(),
  departures,
  wakeUp () {},
  log
}
// Jobs without workers.
const idleQueue = createPushQueue({ db, findPeople, provider, redisUrl: redis.url, log, prefix: 'idle' })
t.teardown(() => idleQueue.close())

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
const measuredHandlers = (own = deps) =>
  createHandlers(own).map((handler) =>
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

function summarize (times: number[], expected: number) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN).toFixed(1)
  return `p50 ${at(0.5)} p99 ${at(0.99)} ms${sorted.length < expected ? ` (${expected - sorted.length} missing)` : ''}`
}

async function measureLatency (name: string, handlers: Handler[], isPushed: boolean) {
  const stop = consume(name, handlers)
  // After these it has caught up with the events of earlier measurements.
  await publish(50, 50)
  await until(rowAt, publishedEvents - 49, 50)
  for (const rate of [10, 100, 1_000]) {
    const from = publishedEvents + 1
    const count = rate * SECONDS
    const { publishedAt, tookMs } = await publish(count, rate)
    await until(isPushed ? pushedAt : rowAt, from, count)
    const since = (times: Map<number, number>) =>
      publishedAt.flatMap((at, each) => times.has(from + each) ? [times.get(from + each)! - at] : [])
    const pushes = isPushed ? `, provider ${summarize(since(pushedAt), count)}` : ''
    console.log(`${name} ${(count / tookMs * 1_000).toFixed(0)}/s: row ${summarize(since(rowAt), count)}${pushes}`)
  }
  await stop()
}

/** Measures how fast a backlog in the stream is consumed. */
async function drainBacklog (name: string, handlers: () => Handler[], isPushed: boolean) {
  const stopCatchingUp = consume(name, handlers())
  rowAt.clear()
  await publish(1, 1)
  await until(rowAt, publishedEvents, 1)
  await stopCatchingUp()
  const from = publishedEvents + 1
  await publish(BACKLOG, 1_000_000)
  while (
    Number(
      (await sql<{ left: number }>`select count(*) as left from outbox where published_at is null`.execute(db)).rows[0]
        ?.left
    ) > 0
  ) await sleep(50)
  const startedAt = now()
  const cpu = process.cpuUsage()
  const stop = consume(name, handlers())
  await until(rowAt, from, BACKLOG)
  const rows = BACKLOG / (Math.max(...numbers(from, BACKLOG).map((each) => rowAt.get(each) ?? Infinity)) - startedAt) *
    1_000
  if (isPushed) await until(pushedAt, from, BACKLOG)
  const sent = BACKLOG / (Math.max(
    ...numbers(from, BACKLOG).map((each) => pushedAt.get(each) ?? Infinity)
  ) - startedAt) * 1_000
  const { user, system } = process.cpuUsage(cpu)
  console.log(
    `${name}: ${rows.toFixed(0)} rows/s${isPushed ? `, ${sent.toFixed(0)} pushes/s` : ''}, ` +
      `${((user + system) / BACKLOG).toFixed(0)} us of CPU for each`
  )
  await stop()
  return rows
}

async function commitOutbox () {
  const writers = connect<Tables>(url, { log, maxConnections: WRITERS })
  let left = BACKLOG
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (left-- > 0) {
      await sql`
        insert into bare_outbox (type, subject, data)
        values ('a.b.c.v1', ${accounts[0]!}, ${JSON.stringify({ accountId: accounts[0]!, level: 1 })}::jsonb)`
        .execute(writers)
    }
  }))
  const rate = BACKLOG / (performance.now() - startedAt) * 1_000
  await writers.destroy()
  return rate
}

await sql`create table bare_outbox (like outbox including all)`.execute(db)
pushes.start()
await measureLatency('notification', measuredHandlers(), true)
await measureLatency('bare', bareHandlers(), false)
const commits = await commitOutbox()
console.log(`outbox row alone, ${WRITERS} writers: ${commits.toFixed(0)} commits/s`)
const rate = await drainBacklog('notification', measuredHandlers, true)
const bareRate = await drainBacklog('bare', bareHandlers, false)
const jobsRate = await drainBacklog('notification', () => measuredHandlers({ ...deps, pushes: idleQueue }), false)
const compare = (what: string, rate: number) =>
  console.log(
    `${what}: ${(rate / commits).toFixed(2)} of outbox commits, ` +
      `${(rate / bareRate).toFixed(2)} of fetch and bare insert`
  )
compare('notifications while their pushes are sent', rate)
compare('notifications and the jobs of their pushes', jobsRate)

for (const close of closers) await close()
process.exit(0)
