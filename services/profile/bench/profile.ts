import { randomBytes, randomUUID } from 'node:crypto'
import path from 'node:path'
import { sql } from 'kysely'
import { Unavailable } from '@tandem/bus-kit'
import { connect, migrate } from '@tandem/database-kit'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { bearer, silent, testKeys } from '@tandem/service-kit/testing'
import { addPerson, changePerson } from '../people/actions.ts'
import { findPerson } from '../people/queries.ts'
import { listCities } from '../places/queries.ts'
import { loadPlaces } from '../places/seed.ts'
import type { Tables } from '../schema.ts'
import { createApp } from '../testing.ts'

// save-profile, status and the cities of the largest country over HTTP, each beside what it asks of Postgres in the same run.
// DATABASE_URL is a server on which a schema may be made; it is dropped afterwards.

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
const admin = connect<unknown>(server, { log: silent, max: 1 })
await sql`create schema ${sql.id(schema)}`.execute(admin)
const db = connect<Tables>(url.href.replaceAll('+', '%20'), { log: silent })

try {
  await migrate(url.href.replaceAll('+', '%20'), path.resolve(import.meta.dirname, '..'))
  const since = performance.now()
  await loadPlaces(db)
  console.log(`the world loaded in ${((performance.now() - since) / 1_000).toFixed(1)} s`)

  const accountId = randomUUID()
  await addPerson(db, { accountId, name: 'Ana', usernameSeed: 'ana', locale: 'id' })
  const media = createMedia({ storage: diskStorage('/nowhere'), cdnUrl: 'https://cdn.example.com' })
  const app = await createApp({ db, media, ask: async () => { throw new Unavailable() } }, { log: silent, keys: testKeys })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const headers = { ...bearer(accountId), 'content-type': 'application/json' }
  const call = async (route: string, init: RequestInit = {}) => {
    const response = await fetch(address + route, { headers, ...init })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${route}: ${response.status}`)
  }
  const largest = await db.selectFrom('cities').select(['country_id as id', sql<number>`count(*)`.as('cities')]).groupBy('country_id').orderBy('cities', 'desc').executeTakeFirstOrThrow()

  let bio = 0
  const pairs: [string, number, () => Promise<unknown>, () => Promise<unknown>][] = [
    ['save-profile', REQUESTS,
      () => call('/onboarding/save-profile', { method: 'POST', body: JSON.stringify({ bio: `as of ${bio++}`, subStep: 7 }) }),
      () => changePerson(db, accountId, async () => ({ bio: `as of ${bio++}`, current_sub_step: 7 }))],
    ['status', REQUESTS, () => call('/onboarding/status'), () => findPerson(db, accountId)],
    [`${largest.cities} cities`, 10, () => call(`/locations?type=cities&countryId=${largest.id}`), () => listCities(db, { countryId: largest.id })]
  ]
  for (const [name, times, served, bare] of pairs) {
    const took = { served: [] as number[], bare: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      took.bare.push(await measure(times, bare))
      took.served.push(await measure(times, served))
    }
    const [ours, theirs] = [median(took.served), median(took.bare)]
    console.log(`${name}: ${ours.toFixed(2)} ms over HTTP, ${theirs.toFixed(2)} ms bare, ${(ours / theirs).toFixed(2)} times`)
  }
  await app.close()
} finally {
  await db.destroy()
  await sql`drop schema ${sql.id(schema)} cascade`.execute(admin)
  await admin.destroy()
}

async function measure (times: number, work: () => Promise<unknown>) {
  const since = performance.now()
  for (let turn = 0; turn < times; turn++) await work()
  return (performance.now() - since) / times
}

function median (values: number[]) {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0
}
