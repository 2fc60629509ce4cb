// Measures what each hot path costs: CPU of every process, transactions, WAL and stored bytes, and events. It writes
// costs.json, from which capacity.ts computes; with names, only what they name is measured again. It measures CPU time,
// so other work on the machine hardly matters.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runConcurrently } from '@tandem/test-kit'
import pg from 'pg'
import { serviceNames as services } from '../../../gateway/routes.ts'
import { cpuTime, cpuTimeWithChildren } from '../kit/cpu.ts'
import { settle, type Person } from '../kit/settled-people.ts'
import { call } from '../kit/call.ts'
import { pictureForm, softPng } from '../kit/pictures.ts'
import { matchPairs, type Runner } from '../kit/runners.ts'
import { withStack, type Stack } from '../kit/stack.ts'
import { upload } from '../kit/upload.ts'

const file = path.join(import.meta.dirname, 'costs.json')
const PEOPLE = 24
const REQUESTS = 300
// Each person can swipe ten profiles a day, and the swipes before have made one match.
const SWIPES_EACH = 9
// As large as an app sends a photo of a phone.
const PICTURE = { width: 1_200, height: 900 }
// Until consumers, relays and workers have done what the requests caused.
const SETTLE_MS = 2_500

interface Figures {
  [process: `${string}Us`]: number
  transactions: number
  walBytes: number
  storedBytes: number
  events: number
}
export type Costs = Record<string, Figures>

/** What is measured, and how many of it where it is not REQUESTS. */
const counts: Record<string, number> = {
  'swipe': PEOPLE * SWIPES_EACH,
  'upload': REQUESTS / 3,
  'sign-in': REQUESTS / 3
}

/** An image at a time: a service refuses more than it can decode. */
const CONCURRENCY: Record<string, number> = { upload: 1 }

const paths: Record<string, (people: Runner[], turn: number) => Promise<unknown>> = {
  'home screen': async (people, turn) => await at(people, turn).send('GET', '/dashboard/home'),
  'page of a feed': async (people, turn) => await at(people, turn).send('GET', '/feed?feedType=discover'),
  'page of matching profiles': async (people, turn) => await at(people, turn).send('GET', '/fitmatch/discover'),
  'page of notifications': async (people, turn) => await at(people, turn).send('GET', '/notifications'),
  'own account': async (people, turn) => await at(people, turn).send('GET', '/auth/me'),
  'post': async (people, turn) =>
    await at(people, turn).send('POST', '/feed', { type: 'TEXT', content: `A run #running ${turn}` }),
  'comment': async (people, turn) =>
    await at(people, turn).send('POST', `/feed/${at(people, turn + 1).postId}/comment`, {
      content: `Well done ${turn}`
    }),
  'like or unlike': async (people, turn) => {
    const lap = Math.floor(turn / people.length)
    const [from, to] = [at(people, turn), at(people, turn + 1 + Math.floor(lap / 2) % (people.length - 1))]
    await from.send(lap % 2 === 0 ? 'POST' : 'DELETE', `/feed/${to.postId}/like`)
  },
  'log': async (people, turn) =>
    await at(people, turn).send('POST', '/logs/batch', {
      items: [{ clientId: `log ${turn}`, type: 'WATER', at: new Date().toISOString(), data: { ml: 250 } }]
    }),
  'chat message': async (people, turn) => {
    const sender = at(people, turn)
    await sender.send('POST', `/fitmatch/chat/${sender.matchId}/messages`, { content: `See you at ${turn}` })
  },
  // No two of them like each other: a match is rare, and costs more.
  'swipe': async (people, turn) => {
    const target = at(people, turn + 2 + Math.floor(turn / people.length))
    await at(people, turn).send('POST', '/fitmatch/swipe', { targetProfileId: target.profileId, swipeType: 'LIKE' })
  }
}
const at = <Someone>(people: Someone[], turn: number) => people[turn % people.length]!

await withStack(async (stack) => {
  const database = new pg.Pool({ connectionString: stack.postgres.url, max: 1 })
  database.on('error', () => {})
  const people = await matchPairs(
    await runConcurrently(
      Array.from({ length: PEOPLE }, (_, number) => async () => await settle(stack, `runner_${number}`)),
      4
    )
  )
  const picture = pictureForm(await softPng(PICTURE.width, PICTURE.height))
  const chosen = process.argv.slice(2)
  const costs = chosen.length > 0 ? JSON.parse(await readFile(file, 'utf8')) as Costs : {}
  const measured = {
    ...paths,
    'upload': async (all: Runner[], turn: number) => await upload(stack, '/media', picture, at(all, turn)),
    'sign-in': async (all: Runner[], turn: number) => await signIn(stack, at(all, turn))
  }
  for (const [name, work] of Object.entries(measured).filter(([name]) => !chosen.length || chosen.includes(name))) {
    await sleep(SETTLE_MS)
    const idle = await during(stack, database, async () => await sleep(SETTLE_MS))
    const requests = counts[name] ?? REQUESTS
    const busy = await during(stack, database, async () => {
      await runConcurrently(
        Array.from({ length: requests }, (_, turn) => async () => await work(people, turn)),
        CONCURRENCY[name] ?? 4
      )
      await sleep(SETTLE_MS)
    })
    costs[name] = perRequest(busy, idle, requests)
    console.log(name.padEnd(28), JSON.stringify(costs[name]))
  }
  await database.end()
  await writeFile(file, `${JSON.stringify(costs, null, 2)}\n`)
})

async function signIn (stack: Stack, { email, password }: Person) {
  return await call(stack, 'POST', '/auth/login', { body: { email, password, deviceName: 'Bench' } })
}

type Counters = Record<string, number>

async function during (stack: Stack, database: pg.Pool, work: () => Promise<unknown>) {
  const [before, since] = [await readCounters(stack, database), performance.now()]
  await work()
  const [after, elapsedMs] = [await readCounters(stack, database), performance.now() - since]
  return { elapsedMs, counters: Object.fromEntries(Object.keys(after).map((key) => [key, after[key]! - before[key]!])) }
}

type Period = Awaited<ReturnType<typeof during>>

/** Without what the system does by itself in the same time. */
function perRequest (busy: Period, idle: Period, requests: number) {
  const share = busy.elapsedMs / idle.elapsedMs
  return Object.fromEntries(
    Object.entries(busy.counters).map(([key, value]) => {
      const own = Math.max(0, value - idle.counters[key]! * share) / requests
      return [key, own < 10 ? Math.round(own * 10) / 10 : Math.round(own)]
    })
  ) as unknown as Figures
}

async function readCounters (stack: Stack, database: pg.Pool): Promise<Counters> {
  const { rows: [counters] } = await database.query<Record<'transactions' | 'wal' | 'stored', string>>(
    `select (select xact_commit from pg_stat_database where datname = current_database()) as transactions,
      pg_current_wal_lsn() - '0/0' as wal,
      (select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r'
        and relname not in ('outbox', 'processed_events') and relnamespace::regnamespace::text = any($1)) as stored`,
    [services]
  )
  let events = 0
  for (const service of services) {
    const { rows: [row] } = await database.query<{ seq: string }>(
      `select coalesce(last_value, 0) as seq from pg_sequences where schemaname = '${service}' and sequencename = 'outbox_seq_seq'`
    )
    events += Number(row?.seq ?? 0)
  }
  const processes = { gateway: stack.gateway, ...stack.services }
  const times = await Promise.all(
    Object.entries(processes).map(async ([name, { pid }]) => [`${name}Us`, await cpuTime(pid!)] as const)
  )
  return {
    ...Object.fromEntries(times),
    postgresUs: await cpuTimeWithChildren(stack.postgres.pid!),
    transactions: Number(counters!.transactions),
    walBytes: Number(counters!.wal),
    storedBytes: Number(counters!.stored),
    events
  }
}
