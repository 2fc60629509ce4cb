import { randomBytes, randomUUID } from 'node:crypto'
import path from 'node:path'
import pg from 'pg'
import type { CallRpc } from '@tandem/bus-kit'
import { Contact, FitMatchOverview, Person } from '@tandem/contracts'
import { connect, migrate } from '@tandem/database-kit'
import { createMediaUrls } from '@tandem/media-url-kit'
import { bearer, silentLog } from '@tandem/http-kit/testing'
import { writeLogs } from '../logs/actions.ts'
import { parseItem } from '../logs/items.ts'
import type { Tables } from '../tables.ts'
import { createTestApp, unavailableCache, examplePerson } from '../test/app.ts'
import { createDashboardErasure } from '../erasure.ts'

// Measures the home screen and a batch for a user with ten logs and one with ten thousand, and for comparison the same
// SQL statements sent by a plain client over one connection. DATABASE_URL is a server on which the bench creates a
// schema; it drops it at the end.

const HISTORY = { 'ten logs': 10, 'ten thousand logs': 10_000 }
const ROUNDS = 5
const REQUESTS = 100
const PER_DAY = 8
const BATCH = 20
const DAYS_OF_BATCHES = 20

const server = process.env['DATABASE_URL']
if (!server) {
  console.error('usage: DATABASE_URL=postgres://… node services/dashboard/bench/home-and-batch.ts')
  process.exit(2)
}

interface Statement {
  name?: string
  text: string
  values?: unknown[]
}
type Query = (this: pg.Client, statement: Statement, ...rest: unknown[]) => Promise<unknown>
const query = pg.Client.prototype.query as Query
let captured: Statement[] | undefined
pg.Client.prototype.query = function (this: pg.Client, statement: Statement, ...rest: unknown[]) {
  if (typeof statement === 'object' && 'text' in statement) captured?.push(statement)
  return query.call(this, statement, ...rest)
} as Query as typeof pg.Client.prototype.query

const schema = `bench_${randomBytes(6).toString('hex')}`
const url = new URL(server)
url.searchParams.set('options', `-c search_path=${schema}`)
const own = url.href.replaceAll('+', '%20')
const admin = new pg.Client({ connectionString: server })
await admin.connect()
await admin.query(`create schema ${schema}`)
await migrate(own, path.resolve(import.meta.dirname, '..'))

const db = connect<Tables>(own, { log: silentLog })
const bare = new pg.Client({ connectionString: own })
await bare.connect()
const answers: Record<string, unknown> = {
  [Person.type]: examplePerson('Asia/Jakarta'),
  [Contact.type]: { email: 'ana@example.com', emailVerified: true, name: 'Ana', locale: 'id' },
  [FitMatchOverview.type]: { hasProfile: false, status: null, discoverTutorialSeen: false, matches: [] }
}
const callRpc = (async ({ type }: { type: string }) => answers[type]) as CallRpc
const now = () => new Date()
const erasure = createDashboardErasure({ db, callRpc })
const app = await createTestApp({
  db,
  callRpc,
  cache: unavailableCache,
  mediaUrls: createMediaUrls('https://cdn.example.com'),
  minAge: 18,
  now,
  imports: { enqueue: async () => {} },
  sendEphemeral () {},
  erasure
})
const address = await app.listen({ host: '127.0.0.1', port: 0 })

function someItem (at: Date, kind: number, clientId = randomUUID() as string) {
  const datas = [
    ['WATER', { ml: 250 }],
    ['FOOD', { name: 'Nasi', calories: 510.5, protein: 20.5 }],
    ['WATER', { ml: 300 }],
    ['WORKOUT', { durationMinutes: 40 }],
    ['FOOD', { name: 'Soto', calories: 430, protein: 25 }],
    ['WEIGHT', { kg: 70.5 }],
    ['SLEEP', { minutes: 450, quality: 4 }],
    ['WATER', { ml: 500 }]
  ] as const
  const [type, data] = datas[kind % datas.length] as typeof datas[number]
  return { clientId, type, at: at.toISOString(), data }
}

const withLifts = (item: ReturnType<typeof someItem>, weightKg: number) =>
  item.type !== 'WORKOUT' ? item : {
    ...item,
    data: {
      durationMinutes: 40,
      exercises: ['Squat', 'Bench', 'Row'].map((name) => ({ name, sets: [{ reps: 5, weightKg }] }))
    }
  }

async function fill (accountId: string, count: number) {
  const items = Array.from({ length: count }, (_, index) => {
    const back = count - 1 - index
    return withLifts(
      someItem(new Date(Date.now() - Math.floor(back / PER_DAY) * 86_400_000 - 60_000), index),
      40 + index % 97
    )
  })
  const began = performance.now()
  for (let from = 0; from < items.length; from += 200) {
    await writeLogs(db, {
      accountId,
      zone: 'Asia/Jakarta',
      parsedItems: items.slice(from, from + 200).map((item) => parseItem(item, now())),
      idempotencyKey: undefined
    })
  }
  return count / ((performance.now() - began) / 1_000)
}

async function capture (work: () => Promise<unknown>) {
  captured = []
  await work()
  const statements = captured
  captured = undefined
  return statements
}

const ids = new Map<string, string>()
async function replay (statements: Statement[], mark = '') {
  for (const { text, values = [] } of statements) {
    if (!ids.has(text)) ids.set(text, `b${ids.size}`)
    const fresh = mark === '' ? values : JSON.parse(JSON.stringify(values).replaceAll('MARK', mark)) as unknown[]
    await query.call(bare, { ...(values.length > 0 && { name: ids.get(text) as string }), text, values: fresh })
  }
}

// Each batch on a separate day, because nobody logs a thousand items on one day.
let day = 0
const batchOf = (mark: string) => {
  const at = new Date(Date.now() - day++ % DAYS_OF_BATCHES * 86_400_000)
  return Array.from({ length: BATCH }, (_, index) => someItem(at, index, `${mark}-${index}`))
}

async function request (accountId: string, method: string, route: string, body?: object) {
  const response = await fetch(`${address}${route}`, {
    method,
    headers: { ...bearer(accountId), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
}

async function time (work: () => Promise<unknown>, times: number) {
  const taken: number[] = []
  for (let count = 0; count < times; count++) {
    const began = performance.now()
    await work()
    taken.push(performance.now() - began)
  }
  return taken
}

const figures = new Map<string, number[]>()
const measure = async (name: string, work: () => Promise<unknown>, times: number) => {
  figures.set(name, [...figures.get(name) ?? [], ...await time(work, times)])
}

interface Case {
  size: string
  accountId: string
  batcher: string
  rate: number
  home: Statement[]
  batches: Statement[][]
}
const cases: Case[] = []
for (const [size, count] of Object.entries(HISTORY)) {
  const accountId = randomUUID()
  const rate = await fill(accountId, count)
  const batcher = randomUUID()
  await fill(batcher, count)
  // The first request stores the local copy of the person.
  await request(accountId, 'GET', '/dashboard/home')
  const batches: Statement[][] = []
  // Most batches are for days that already have logs.
  for (let count = 0; count < DAYS_OF_BATCHES; count++) {
    await request(batcher, 'POST', '/logs/batch', { items: batchOf(randomUUID()) })
  }
  for (let count = 0; count < DAYS_OF_BATCHES; count++) {
    batches.push(
      await capture(async () => await request(batcher, 'POST', '/logs/batch', { items: batchOf(`MARK${count}`) }))
    )
  }
  cases.push({
    size,
    accountId,
    batcher,
    rate,
    home: await capture(async () => await request(accountId, 'GET', '/dashboard/home')),
    batches
  })
}
await admin.query(
  `analyze ${schema}.logs, ${schema}.daily_summaries, ${schema}.lifts, ${schema}.streaks, ${schema}.totals`
)
await bare.query('analyze')

// The first round warms up and is not counted.
for (let round = 0; round <= ROUNDS; round++) {
  for (const { size, accountId, batcher, home, batches } of cases) {
    const mark = () => randomBytes(6).toString('hex')
    await measure(`home, ${size}`, async () => await request(accountId, 'GET', '/dashboard/home'), REQUESTS)
    await measure(`  its ${home.length} statements, bare, ${size}`, async () => await replay(home), REQUESTS)
    await measure(
      `batch of ${BATCH}, ${size}`,
      async () => await request(batcher, 'POST', '/logs/batch', { items: batchOf(mark()) }),
      REQUESTS / 10
    )
    let next = 0
    const replayNext = async () => await replay(batches[next++ % batches.length] as Statement[], mark())
    await measure(`  its statements, bare, ${size}`, replayNext, REQUESTS / 10)
  }
  if (round === 0) figures.clear()
}

const percentile = (numbers: number[], percent: number) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * percent / 100)] ?? 0
console.log(`${''.padEnd(52)}   p50 ms   p99 ms`)
for (const [name, taken] of figures) {
  console.log(
    `${name.padEnd(52)} ${percentile(taken, 50).toFixed(2).padStart(8)} ${percentile(taken, 99).toFixed(2).padStart(8)}`
  )
}
for (const { size, rate } of cases) {
  console.log(`history of ${size}: written at ${Math.round(rate)} logs per second, 200 per batch`)
}
if (process.argv.includes('--explain')) await explain()

await app.close()
await db.destroy()
await bare.end()
await admin.query(`drop schema ${schema} cascade`)
await admin.end()

async function explain () {
  for (const { size, home, batches } of cases.slice(-1)) {
    for (
      const { text, values } of [...home, ...batches.at(-1) ?? []].filter(({ text }) =>
        /^\s*(select|with|insert|update|delete)/.test(text) && !/^\s*insert/.test(text)
      )
    ) {
      await bare.query('begin')
      const { rows } = await bare.query(`explain (analyze, buffers off, timing off) ${text}`, values)
      await bare.query('rollback')
      const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n')
      console.log(`\n-- ${size}\n${text.trim().slice(0, 160)}\n${plan}`)
    }
  }
}
