// Sends 500 events a second of a booking system for half a minute, in batches of ten through the gateway, and checks that
// each is answered in time and handled once. Arguments: events a second, and the size of a batch.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connect } from '@tandem/database-kit'
import { sql, type Kysely } from 'kysely'
import { pace } from './kit/pace.ts'
import { percentile } from './kit/percentile.ts'
import { urlOfSchema, withStack } from './kit/stack.ts'

const SECONDS = 30
const PEOPLE = 500
const MAX_P99_MS = 300
const MAX_DRAIN_SECONDS = 120
const RETRY_PAUSE_MS = 1_000

type Db = Kysely<Record<string, never>>

const [rate = 500, batchSize = 10] = process.argv.slice(2).map(Number)

/** Measures it. @returns whether every limit holds */
async function producers () {
  let passed = false
  await withStack(async (stack) => {
    const databaseUrl = urlOfSchema(stack, 'notification')
    const db: Db = connect(databaseUrl, { log: { warn () {} }, timeoutFactor: 30 })
    const people = await createPeople(db)
    const key = await addProducer(databaseUrl)
    const load = loadavg()[0]?.toFixed(1)
    const answers = await sendAll(`${stack.gateway.url}/api/mobile/v1/producers/events`, key, people)
    const latencies = answers.map(({ ms }) => ms)
    const refusals = answers.reduce((sum, each) => sum + each.refusals, 0)
    const sent = latencies.length * batchSize
    const drainedMs = await waitUntilHandled(db)
    const { rows: [counts] } = await sql<{ notifications: number, bookings: number }>`
      select (select count(*)::int from notifications) as notifications, (select count(*)::int from bookings) as bookings`
      .execute(db)
    const p99 = percentile(latencies, 99)
    console.log(
      `${sent} events in ${SECONDS} s, in ${latencies.length} requests, ${refusals} refused; load ${load} before, ${
        loadavg()[0]?.toFixed(1)
      } after`
    )
    console.log(
      `p50 ${Math.round(percentile(latencies, 50))} ms, p99 ${
        Math.round(p99)
      } ms; handled ${drainedMs} ms after the last`
    )
    console.log(`${counts?.notifications} notifications of ${counts?.bookings} bookings`)
    passed = refusals === 0 && p99 < MAX_P99_MS && counts?.notifications === sent && counts.bookings === sent
    await db.destroy()
  })
  return passed
}

async function createPeople (db: Db) {
  const people = Array.from({ length: PEOPLE }, () => randomUUID())
  await sql`
    insert into people (account_id, name, locale, timezone, changed_at)
    select id, 'Person', 'en', 'Asia/Jakarta', now() from unnest(${people}::uuid[]) as each (id)`.execute(db)
  return people
}

async function addProducer (databaseUrl: string) {
  const { stdout } = await promisify(execFile)(process.execPath, [
    'services/notification/producers/cli.ts',
    'add',
    'booking',
    '--events',
    'booking.confirmed',
    '--rate',
    '10000'
  ], { env: { ...process.env, DATABASE_URL: databaseUrl } })
  return stdout.split('\n', 1)[0] ?? ''
}

const sendAll = async (url: string, key: string, people: string[]) =>
  await pace({ count: SECONDS * rate / batchSize, perSecond: rate / batchSize }, async (number, dueAt) => {
    const refusals = await sendBatch(url, key, people, number)
    return { ms: performance.now() - dueAt, refusals }
  })

/** Sends a batch until it is accepted, as a producer does. @returns how often it was refused */
async function sendBatch (url: string, key: string, people: string[], number: number) {
  const at = Date.now()
  const events = Array.from({ length: batchSize }, (_, index) => {
    const bookingId = `B-${number * batchSize + index}`
    return {
      specversion: '1.0',
      id: bookingId,
      source: 'https://bookings.example',
      type: 'booking.confirmed',
      time: new Date(at).toISOString(),
      data: {
        accountId: people[(number * batchSize + index) % PEOPLE],
        bookingId,
        title: 'Yoga',
        startsAt: new Date(at + 86_400_000).toISOString(),
        endsAt: new Date(at + 90_000_000).toISOString()
      }
    }
  })
  const body = JSON.stringify(events)
  for (let refusals = 0;; refusals++) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'authorization': `Bearer ${key}`, 'content-type': 'application/cloudevents-batch+json' },
      body
    })
    const text = await response.text()
    if (response.status === 202) return refusals
    if (response.status !== 503) throw new Error(`${response.status} ${text}`)
    await sleep(RETRY_PAUSE_MS)
  }
}

async function waitUntilHandled (db: Db) {
  const since = Date.now()
  for (let waited = 0; waited < MAX_DRAIN_SECONDS * 10; waited++) {
    const { rows: [left] } = await sql<{ isEmpty: boolean }>`
      select not exists (select from producer_events) as "isEmpty"`.execute(db)
    if (left?.isEmpty) break
    await sleep(100)
  }
  return Date.now() - since
}

if (!await producers()) process.exitCode = 1
