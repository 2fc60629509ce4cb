// What becomes of pushes when things go wrong: `npm run pushes -- faults`, `redis`, `nats` or `broadcast`. Everything
// is real but the provider, which is a stand-in that does what a bad day at a provider looks like, and the people, who
// are written straight into the tables.
import { setTimeout as sleep } from 'node:timers/promises'
import { LevelReached, MessageSent, type EventDefinition } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { startNats, startRedis } from '@tandem/test-kit'
import { sql, type Kysely } from 'kysely'
import { startFakeFcm, type Fault, type SendRequest } from '../../services/notification/test/fake-fcm.ts'
import { readStack, withStack, type Stack } from './stack.ts'
import { percentile } from './table.ts'

const closers: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => closers.unshift(close) }
const quiet = { info () {}, warn () {}, error () {} }
let wrong = 0

const uuid = (first: string, number: number) =>
  `${first}0000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
const tokenOf = (number: number) => `token-${number}`
const numberOf = (token: string) => Number(token.slice('token-'.length))

const google = await startFakeFcm()
const [redis, nats] = await Promise.all([startRedis(t), startNats(t)])
const sentBy = new Map<string, SendRequest[]>()

type Db = Kysely<Record<string, never>>
interface World {
  stack: Stack
  db: Db
  dataDir: string
}

const scenarios: Record<string, (world: World) => Promise<void>> = {
  faults,
  redis: redisGone,
  nats: natsGone,
  broadcast
}
const wanted = scenarios[process.argv[2] ?? 'faults']
if (!wanted) throw new Error(`which of ${Object.keys(scenarios).join(', ')}?`)
await withStack(async (stack, dataDir) => {
  const db: Db = connect(stack.postgres.url, { log: quiet, timeoutFactor: 30 })
  await wanted({ stack, dataDir, db })
  await db.destroy()
}, { REDIS_URL: redis.url, NATS_URL: nats.url, FCM_BASE_URL: google.url, FCM_SERVICE_ACCOUNT_FILE: google.file })
await google.close()
for (const close of closers) await close()
if (wrong > 0) process.exitCode = 1

/** 5,000 pushes of which a third meet a fault, while the service is killed 20 times. */
async function faults ({ db, dataDir }: World) {
  const [people, kills, perSecond] = [2_500, 20, 12]
  const accounts = await writePeople(db, people, 2)
  const fates: (Fault | undefined)[] = [
    { status: 404, code: 'UNREGISTERED' },
    { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 5 },
    { status: 503, code: 'UNAVAILABLE' },
    undefined,
    'silence',
    { status: 404, code: 'UNREGISTERED' },
    { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 5 },
    { status: 503, code: 'UNAVAILABLE' }
  ]
  // Of twenty tokens two are dead, two get 429, two get 503 and one gets no answer; but for the dead ones only the
  // first time.
  const fateOf = (token: string) => fates[numberOf(token) % 20]
  google.respondWith(({ token }, attempt) => {
    const fate = fateOf(token)
    return attempt === 1 || (typeof fate === 'object' && fate.status === 404) ? fate : undefined
  })

  const killedAt: number[] = []
  const saying = sayPaced(db, accounts.map((_, number) => levelFor(accounts, number)), perSecond)
  const dead = new Set<number>()
  for (let kill = 1; kill <= kills; kill++) {
    const pid = await untilBack(dataDir, dead)
    await sleep(500 + Math.random() * 2_500)
    process.kill(pid, 'SIGKILL')
    killedAt.push(Date.now())
    dead.add(pid)
  }
  await saying
  console.log(`${kills} kills in ${((killedAt.at(-1)! - killedAt[0]!) / 1_000).toFixed(0)} s`)
  await untilOver(db, 240)

  const outcomes = await sql<
    { status: string, count: number }
  >`select status, count(*)::int as count from notification.deliveries group by status`.execute(db)
  const { rows: [notifications] } = await sql<{ count: number, people: number, unread: number }>`
    select count(*)::int as count, count(distinct account_id)::int as people, (select sum(unread)::int from notification.unread_counts) as unread from notification.notifications`
    .execute(db)
  console.log(`notifications ${JSON.stringify(notifications)}, deliveries ${JSON.stringify(outcomes.rows)}`)
  expect(
    notifications?.count === people && notifications.people === people && notifications.unread === people,
    'each person gets one notification, and the unread counts are exact'
  )

  const tally = {
    tokens: 0,
    sends: 0,
    dead: 0,
    deadTwice: 0,
    repeated: 0,
    unexplained: 0,
    early: 0,
    forgotten: 0,
    missing: 0,
    otherCollapseId: 0
  }
  group()
  for (let number = 0; number < people * 2; number++) {
    const token = tokenOf(number)
    const sends = sentBy.get(token) ?? []
    const fate = fateOf(token)
    const isDead = typeof fate === 'object' && fate.status === 404
    tally.tokens++
    tally.sends += sends.length
    if (isDead) {
      tally.dead++
      if (sends.length > 1) tally.deadTwice++
    } else if (!sends.some(({ status }) => status === 200)) tally.missing++
    if (new Set(sends.map(({ message }) => message.android.collapse_key)).size > 1) tally.otherCollapseId++
    for (const [each, next] of sends.slice(1).entries()) {
      const before = sends[each]!
      const waited = next.at - before.at
      if ((before.status === 429 && waited < 5_000) || (before.status === 503 && waited < 60_000)) {
        // A worker that dies before it stores the answer loses it, and its lease is shorter than the wait.
        const kill = killedAt.find((at) => at >= before.at - 50 && at <= before.at + 500)
        if (kill !== undefined && waited > 25_000) tally.forgotten++
        else tally.early++
        console.log(
          `answered ${before.status} and sent again after ${waited} ms; killed ${
            kill === undefined ? 'at another time' : `${kill - before.at} ms after the answer`
          }`
        )
      }
      if (before.status !== 200 && before.status !== 404) continue
      // It had been accepted, or rejected for good. Only a worker that died before it stored that may send it again.
      tally.repeated++
      if (!killedAt.some((at) => at >= before.at - 50 && at <= next.at)) tally.unexplained++
    }
  }
  console.log(JSON.stringify(tally))
  expect(tally.missing === 0, 'every living token got its notice')
  expect(tally.early === 0, 'nothing was sent before its time')
  expect(
    tally.unexplained === 0 && tally.otherCollapseId === 0,
    'a second send followed a kill only, under the same collapse id'
  )
}

/** Redis is wiped under load, and then is away for a minute. */
async function redisGone ({ db }: World) {
  const accounts = await writePeople(db, 1_000, 1)
  google.respondWith(() => undefined)
  const load = (from: number, count: number) =>
    sayPaced(db, Array.from({ length: count }, (_, each) => levelFor(accounts, from + each)), 50)
  await load(0, 250)

  const first = load(250, 1_500)
  const wipes: number[] = []
  for (let wipe = 0; wipe < 5; wipe++) {
    await sleep(5_000)
    await redisCommand(redis.url, 'FLUSHALL')
    wipes.push(Date.now())
  }
  const saidFirst = await first
  await untilOver(db, 120)
  report('FLUSHALL five times at 50 a second', saidFirst, 60_000)

  const second = load(1_750, 4_000)
  await sleep(10_000)
  await redis.stop()
  const goneAt = Date.now()
  await sleep(60_000)
  const { rows: [created] } = await sql<
    { count: number }
  >`select count(*)::int as count from notification.notifications where created_at > to_timestamp(${
    goneAt / 1_000
  }::float8)`.execute(db)
  await redis.start()
  const backAt = Date.now()
  const saidSecond = await second
  await untilOver(db, 120)
  console.log(`${created?.count} notifications were written while Redis was unavailable`)
  const late = saidSecond.filter(({ at }) => at > goneAt - 1_000 && at < backAt)
  report(
    'Redis away for 60 s, after its return',
    late.map((said) => ({ ...said, at: Math.max(said.at, backAt) })),
    30_000
  )
}

/** NATS is away for half a minute. */
async function natsGone ({ db }: World) {
  const accounts = await writePeople(db, 1_000, 1)
  google.respondWith(() => undefined)
  const load = sayPaced(db, Array.from({ length: 3_000 }, (_, each) => levelFor(accounts, each)), 50)
  await sleep(10_000)
  await nats.stop()
  const goneAt = Date.now()
  await sleep(30_000)
  await nats.start()
  const backAt = Date.now()
  const said = await load
  await untilOver(db, 60, said.length)
  const late = said.filter(({ at }) => at > goneAt - 500 && at < backAt)
  report(
    'NATS away for 30 s, after its return',
    late.map((each) => ({ ...each, at: Math.max(each.at, backAt) })),
    10_000
  )
}

/** A broadcast to 100,000 devices that are really sent to, while people chat. */
async function broadcast ({ db }: World) {
  const people = Number(process.argv[3] ?? 100_000)
  const accounts = await writePeople(db, people, 1)
  google.respondWith(() => undefined)
  let chat = 0
  const chats = (count: number) =>
    sayPaced(
      db,
      Array.from({ length: count }, () => {
        const [to, from, message] = [accounts[chat % 50]!, accounts[50 + chat % 50]!, uuid('c', ++chat)]
        return {
          event: MessageSent,
          key: message,
          subject: message,
          data: { matchId: uuid('d', chat), messageId: message, senderId: from, recipientId: to, hasImage: false }
        }
      }),
      10
    )

  await chats(50)
  const alone = await chats(300)
  await sleep(1_000)
  report('chat alone', alone)

  const began = Date.now()
  await sql`insert into notification.broadcasts (id, title, body) values (uuidv7(), '{"en":"News","id":"Kabar"}', '{"en":"See","id":"Lihat"}')`
    .execute(db)
  const beside: Awaited<typeof alone> = []
  const steps: string[] = []
  let step = 10_000
  for (;;) {
    beside.push(...await chats(20))
    const sent = google.seen.filter(({ message }) => message.data.type === 'ADMIN').length
    while (sent >= step && step <= people) {
      steps.push(
        ((google.seen.filter(({ message }) => message.data.type === 'ADMIN')[step - 1]!.at - began) / 1_000).toFixed(1)
      )
      step += 10_000
    }
    if (sent >= people || Date.now() - began > 300_000) break
  }
  await sleep(2_000)
  const took = (google.seen.findLast(({ message }) => message.data.type === 'ADMIN')!.at - began) / 1_000
  report('chat beside the broadcast', beside)
  const tokens = new Set(google.seen.filter(({ message }) => message.data.type === 'ADMIN').map(({ token }) => token))
  const rate = (tokens.size / took).toFixed(0)
  console.log(`broadcast: ${tokens.size} of ${people} devices in ${took.toFixed(0)} s, ${rate}/s`)
  console.log(`seconds until each ten thousand: ${steps.join(', ')}`)
  expect(tokens.size === people, 'each device received the broadcast within 300 s')
}

/** `key` is what its push is known by. */
interface Saying {
  event: EventDefinition
  key: string
  subject: string
  data: object
}
interface Said {
  key: string
  at: number
}

/** Says events as their services would, so many a second, and notes when. */
async function sayPaced (db: Db, sayings: Saying[], perSecond: number): Promise<Said[]> {
  const said: Said[] = []
  const began = performance.now()
  while (said.length < sayings.length) {
    const due = sayings.slice(said.length, Math.floor((performance.now() - began) / 1_000 * perSecond) + 1)
    for (const { event, key, subject, data } of due) {
      const at = Date.now()
      await sql`insert into ${
        sql.table(`${event.service}.outbox`)
      } (type, subject, data) values (${event.type}, ${subject}, ${JSON.stringify(data)}::jsonb)`.execute(db)
      said.push({ key, at })
    }
    await sleep(5)
  }
  return said
}

function levelFor (accounts: string[], number: number): Saying {
  const accountId = accounts[number % accounts.length]!
  const level = 2 + Math.floor(number / accounts.length)
  return { event: LevelReached, key: `${accountId} ${level}`, subject: accountId, data: { accountId, level } }
}

/** Creates people with some devices each. */
async function writePeople (db: Db, count: number, devices: number) {
  for (let from = 0; from < count; from += 5_000) {
    const ids = Array.from({ length: Math.min(5_000, count - from) }, (_, each) => uuid('a', from + each))
    await sql`
      with met as (
        insert into notification.people (account_id, name, locale, timezone, changed_at) select id, 'Person', 'en', 'Asia/Jakarta', now() from unnest(${ids}::uuid[]) as each (id) returning account_id
      )
      insert into notification.unread_counts (account_id) select account_id from met`.execute(db)
    await sql`
      insert into notification.devices (account_id, session_id, token, platform)
      select id, id, 'token-' || ((${from}::int + number - 1) * ${devices}::int + device - 1), 'android'
      from unnest(${ids}::uuid[]) with ordinality as each (id, number), generate_series(1, ${devices}::int) as device`
      .execute(db)
  }
  return Array.from({ length: count }, (_, number) => uuid('a', number))
}

/** Waits until nothing that was said waits for anything. */
async function untilOver (db: Db, seconds: number, notifications = 0) {
  const end = Date.now() + seconds * 1_000
  for (;;) {
    const { rows: [left] } = await sql<{ unpublished: number, unsent: number, created: number }>`
      select (select count(*)::int from dashboard.outbox where published_at is null) as unpublished,
        (select count(*)::int from notification.deliveries where status in ('pending', 'held')) as unsent,
        (select count(*)::int from notification.notifications) as created`.execute(db)
    if (left && left.unpublished + left.unsent === 0 && left.created >= notifications) {
      // The broker redelivers messages of a killed process after ten seconds.
      await sleep(12_000)
      const { rows: [after] } = await sql<{ unsent: number, created: number }>`
        select (select count(*)::int from notification.deliveries where status in ('pending', 'held')) as unsent, (select count(*)::int from notification.notifications) as created`
        .execute(db)
      if (after?.unsent === 0 && after.created === left.created) return
    }
    if (Date.now() > end) {
      expect(false, `everything is over after ${seconds} s: ${JSON.stringify(left)}`)
      return
    }
    await sleep(1_000)
  }
}

async function untilBack (dataDir: string, dead: Set<number>) {
  for (;;) {
    const { services } = await readStack(dataDir)
    const { pid } = services['notification']!
    if (pid && !dead.has(pid)) return pid
    await sleep(50)
  }
}

function group () {
  sentBy.clear()
  for (const seen of google.seen) sentBy.set(seen.token, [...sentBy.get(seen.token) ?? [], seen])
}

/** How long what was said took to the provider, and that each came once. */
function report (name: string, said: Said[], within = Infinity) {
  const taken = new Map<string, number[]>()
  for (const { at, token, message, status } of google.seen) {
    if (status !== 200) continue
    const key = message.data['messageId'] ??
      `${uuid('a', numberOf(token))} ${message.notification.title.replaceAll(/\D/g, '')}`
    taken.set(key, [...taken.get(key) ?? [], at])
  }
  const times = said.map(({ key, at }) => (taken.get(key)?.[0] ?? Infinity) - at)
  const missing = times.filter((time) => time === Infinity).length
  const twice = said.filter(({ key }) => (taken.get(key)?.length ?? 0) > 1).length
  console.log(
    `${name}: ${said.length} said; to the provider p50 ${percentile(times, 50).toFixed(0)} ms, p99 ${
      percentile(times, 99).toFixed(0)
    } ms, at most ${Math.max(...times).toFixed(0)} ms; missing ${missing}, twice ${twice}`
  )
  if (within < Infinity) {
    expect(Math.max(...times) <= within && twice === 0, `all within ${within / 1_000} s, each once`)
  }
}

async function redisCommand (url: string, command: string) {
  const { connect: open } = await import('node:net')
  const { hostname, port } = new URL(url)
  await new Promise<void>((resolve, reject) => {
    const socket = open(Number(port), hostname, () => socket.write(`${command}\r\n`))
    socket.once('data', () => {
      socket.end()
      resolve()
    }).once('error', reject)
  })
}

function expect (truth: boolean, what: string) {
  console.log(`${truth ? '✓' : '✗'} ${what}`)
  if (!truth) wrong++
}
