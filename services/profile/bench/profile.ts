import { randomBytes, randomUUID } from 'node:crypto'
import path from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { connect, migrate } from '@tandem/database-kit'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { addPerson } from '../people/actions.ts'
import { loadPlaces } from '../places/seed.ts'
import type { Tables } from '../tables.ts'
import { createApp } from '../test/app.ts'
import { createProfileErasure } from '../erasure.ts'

// Measures save-profile, status and the cities of the largest country over HTTP, each next to its prepared SQL alone in
// the same run. DATABASE_URL is a server on which a schema can be created; the schema is dropped afterwards.

const ROUNDS = 5
const REQUESTS = 100
const server = process.env['DATABASE_URL']
if (!server) {
  console.error('usage: DATABASE_URL=postgres://… node services/profile/bench/profile.ts')
  process.exit(2)
}

const schema = `bench_${randomBytes(6).toString('hex')}`
const url = new URL(server)
url.searchParams.set('options', `-c search_path=${schema}`)
const admin = connect<unknown>(server, { log: silentLog, maxConnections: 1 })
await sql`create schema ${sql.id(schema)}`.execute(admin)
const own = url.href.replaceAll('+', '%20')
const db = connect<Tables>(own, { log: silentLog })

try {
  await migrate(own, path.resolve(import.meta.dirname, '..'))
  const since = performance.now()
  await loadPlaces(db)
  console.log(`the world loaded in ${((performance.now() - since) / 1_000).toFixed(1)} s`)

  const accountId = randomUUID()
  await addPerson(db, { accountId, name: 'Ana', locale: 'id' })
  const media = createMedia({ storage: diskStorage('/nowhere'), cdnUrl: 'https://cdn.example.com' })
  const callRpc = async () => {
    throw new Error('unexpected call')
  }
  const erasure = createProfileErasure({ db, callRpc, media })
  const app = await createApp({ db, media, findAccounts: async () => [], areAdminRoutesOff: false, erasure }, {
    log: silentLog,
    keys: testKeys
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const headers = { ...bearer(accountId), 'content-type': 'application/json' }
  const call = async (route: string, { etag, ...init }: { method?: string, body?: string, etag?: string } = {}) => {
    const response = await fetch(address + route, {
      ...init,
      headers: { ...headers, ...(etag && { 'if-none-match': etag }) }
    })
    await response.arrayBuffer()
    if (!response.ok && response.status !== 304) throw new Error(`${route}: ${response.status}`)
    return response
  }
  const largest = await db.selectFrom('cities').select(['country_id as id', sql<number>`count(*)`.as('cities')])
    .groupBy('country_id').orderBy('cities', 'desc').executeTakeFirstOrThrow()

  const bare = new pg.Client({ connectionString: own })
  await bare.connect()
  // The minimal SQL, prepared.
  const statement = async (name: string, text: string, values: unknown[] = []) =>
    await bare.query({ name, text, values })
  const facts = 'select *, birth_date::text from people where account_id = $1'
  async function saveBare () {
    await bare.query('begin')
    await statement('lock', `${facts} for update`, [accountId])
    await statement(
      'save',
      `update people set bio = $2, current_sub_step = 7, updated_at = now() where account_id = $1
      returning *, birth_date::text`,
      [accountId, `as of ${bio++}`]
    )
    await statement(
      'publish',
      `insert into outbox (type, subject, data) values ('profile.person.changed.v1', $1, $2)`,
      [accountId, JSON.stringify({ accountId, bio })]
    )
    await bare.query('commit')
  }
  const cities = `select id::text, name, name_local as "nameLocal", timezone, region_id::text as "regionId" from cities
    where country_id = $1 order by population desc, name, id`
  const citiesOfLargest = `/locations?type=cities&countryId=${largest.id}`
  const etag = (await call(citiesOfLargest)).headers.get('etag') ?? ''

  let bio = 0
  const pairs: [string, number, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'save-profile',
      REQUESTS,
      () =>
        call('/onboarding/save-profile', {
          method: 'POST',
          body: JSON.stringify({ bio: `as of ${bio++}`, subStep: 7 })
        }),
      saveBare
    ],
    ['status', REQUESTS, () => call('/onboarding/status'), () => statement('read', facts, [accountId])],
    [`${largest.cities} cities`, 20, () => call(citiesOfLargest), () => statement('cities', cities, [largest.id])],
    [
      '  unchanged (304)',
      REQUESTS,
      () => call(citiesOfLargest, { etag }),
      () => statement('edition', 'select edition from places_editions order by loaded_at desc limit 1')
    ]
  ]
  console.log(`${''.padEnd(20)}  over HTTP p50   p99  bare SQL p50   p99   times`)
  for (const [name, times, served, alone] of pairs) {
    const took = { served: [] as number[], alone: [] as number[] }
    // The first round is a warm-up and is not counted.
    for (let round = 0; round <= ROUNDS; round++) {
      const [theirs, ours] = [await measure(times, alone), await measure(times, served)]
      if (round === 0) continue
      took.alone.push(...theirs)
      took.served.push(...ours)
    }
    const [ours, theirs] = [took.served, took.alone].map((taken) =>
      [50, 99].map((percent) => percentile(taken, percent))
    )
    const columns = [...ours ?? [], ...theirs ?? []].map((figure, index) =>
      figure.toFixed(2).padStart(index % 2 ? 6 : 14)
    ).join('')
    console.log(`${name.padEnd(20)}${columns}${((ours?.[0] ?? 0) / (theirs?.[0] ?? 1)).toFixed(2).padStart(8)}`)
  }
  await bare.end()
  await app.close()
} finally {
  await db.destroy()
  await sql`drop schema ${sql.id(schema)} cascade`.execute(admin)
  await admin.destroy()
}

async function measure (times: number, work: () => Promise<unknown>) {
  const taken: number[] = []
  for (let turn = 0; turn < times; turn++) {
    const since = performance.now()
    await work()
    taken.push(performance.now() - since)
  }
  return taken
}

function percentile (taken: number[], percent: number) {
  return taken.toSorted((one, other) => one - other)[Math.floor(taken.length * percent / 100)] ?? 0
}
