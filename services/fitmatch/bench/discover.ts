import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import type { CallRpc } from '@tandem/bus-kit'
import { connect, migrate } from '@tandem/database-kit'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createHooks } from '@tandem/http-kit'
import { discover } from '../discover/queries.ts'
import { readCaller } from '../people/queries.ts'
import type { Tables } from '../tables.ts'
import { createApp, createFacts } from '../test/app.ts'
import { createFitMatchErasure } from '../erasure.ts'

// Measures discover with realistically clustered people: 200 places, the largest with a sixth of all. Each search is
// sent over HTTP, and the same statements by a plain client for comparison, in turn with and without their conditions
// for hidden people. Creates a schema on the server of DATABASE_URL and drops it afterwards. SIZES overrides the sizes.

const sizes = (process.env['SIZES'] ?? '10000,100000,1000000').split(',').map(Number)
const SEARCHES = 40
const KILOMETRES = 25

const server = process.env['DATABASE_URL']
if (!server) {
  console.error('usage: DATABASE_URL=postgres://… node services/fitmatch/bench/discover.ts')
  process.exit(2)
}

const schema = `bench_${randomBytes(6).toString('hex')}`
const url = new URL(server)
url.searchParams.set('options', `-c search_path=${schema} -c max_parallel_workers_per_gather=0`)
const schemaUrl = url.href.replaceAll('+', '%20')
const plainClient = new pg.Client({ connectionString: schemaUrl })
await plainClient.connect()
await plainClient.query(`create schema ${schema}`)
const db = connect<Tables>(schemaUrl, { log: { warn () {} } })

let captured: string[] | undefined
const query = pg.Client.prototype.query as (this: pg.Client, ...statement: unknown[]) => Promise<unknown>
pg.Client.prototype.query = function (this: pg.Client, ...statement: unknown[]) {
  if (typeof statement[0] === 'object') captured?.push(JSON.stringify(statement[0]))
  return query.apply(this, statement)
} as typeof pg.Client.prototype.query

/** Inserts people `first` to `last`. Places are numbered by size: each is a little smaller than the one before. */
async function insertPeople (first: number, last: number) {
  await plainClient.query(`select setseed(0.5)`)
  await plainClient.query(
    `insert into members (account_id) select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid
      from generate_series(${first}::bigint, ${last}::bigint) n`
  )
  await plainClient.query(`
    insert into profiles (account_id, display_name, has_custom_name, birth_date, gender, latitude, longitude, looking_for, interested_in, fitness_goals,
      preferred_times, workout_days, age_min, age_max, max_distance, prompts, suspended, photo_count, trait_bits, sport_bits)
    select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'P' || n, true, current_date
        - (18 * 365 + floor(random() ^ 1.5 * 40 * 365))::int,
      case when random() < 0.5 then 'MALE' else 'FEMALE' end,
      round(place_latitude + 8 * (random() + random() + random() - 1.5))::int, round(place_longitude + 8 * (random() + random() + random() - 1.5))::int,
      case floor(random() * 3) when 0 then '{MALE}'::text[] when 1 then '{FEMALE}'
        else '{MALE,FEMALE,OTHER}' end, '{}', '{}', '{}', '{}',
      18 + floor(random() * 10)::int, 35 + floor(random() * 30)::int, 50, '[]', false, 2,
      (floor(random() * 256)::bigint & floor(random() * 256)::bigint) + ((floor(random() * 2048)::bigint & floor(random() * 2048)::bigint) << 16)
        + ((floor(random() * 512)::bigint & floor(random() * 512)::bigint) << 32) + ((floor(random() * 128)::bigint) << 44),
      ((random() * 1e15)::bigint::bit(64) & (random() * 1e15)::bigint::bit(64) & (random() * 1e15)::bigint::bit(64))::bit(128)
    from (select n, place, (place * 7919) % 12000 - 6000 as place_latitude, (place * 104729) % 34000 - 17000 as place_longitude
      from (select n, floor(200 * random() ^ 3)::int as place
        from generate_series(${first}::bigint, ${last}::bigint) n) as people) as placed`)
  await plainClient.query('vacuum analyze profiles, members')
}

/** Inserts a searcher in the middle of the place with this rank. */
async function insertSearcher (rank: number, swiped: number) {
  const account = `ffffffff-0000-7000-8000-${String(rank).padStart(6, '0')}${swiped ? '000001' : '000000'}`
  await plainClient.query(`insert into members (account_id) values ('${account}') on conflict do nothing`)
  await plainClient.query(
    `insert into profiles (account_id, display_name, has_custom_name, birth_date, gender, latitude, longitude, looking_for, interested_in, fitness_goals,
      preferred_times, workout_days, age_min, age_max, max_distance, prompts, suspended, photo_count, trait_bits, sport_bits)
    values ('${account}', 'Me', true, current_date - 365 * 28, 'MALE',
      ${(rank * 7919) % 12000 - 6000}, ${(rank * 104729) % 34000 - 17000}, '{FEMALE}', '{}', '{}', '{}', '{}',
      22, 38, ${KILOMETRES}, '[]', false, 2, 1234567890123 & 2251799813685247, 12345::bit(128)) on conflict do nothing`
  )
  const me = await readCaller(db, account)
  if (swiped) {
    await plainClient.query(
      `insert into swipes (swiper_id, target_id, swipe_type) select '${account}', account_id, 'PASS' from profiles
      where latitude between ${me.latitude! - 12} and ${me.latitude! + 12}
        and longitude between ${me.longitude! - 12} and ${me.longitude! + 12} and gender = 'FEMALE'
      limit ${swiped} on conflict do nothing`
    )
    await plainClient.query('analyze swipes')
  }
  return me
}

/** Hides this many people, anywhere, and nobody else. */
async function hidePeople (count: number) {
  await plainClient.query('update hidden_people set is_hidden = false where is_hidden')
  await plainClient.query(
    `insert into hidden_people (account_id, is_hidden, changed_at)
      select account_id, true, now() from profiles order by md5(account_id::text) limit ${count}
      on conflict (account_id) do update set is_hidden = true`
  )
  await plainClient.query('vacuum (analyze) hidden_people, profiles')
}

/** Gives the searcher a gym with this many others, and nobody else one. */
async function fillGym (accountId: string, people: number) {
  await plainClient.query('delete from venues')
  await plainClient.query(
    `insert into venues (profile_id, name, place_id, is_custom, sort_order)
      select id, 'Gym', 'bench', false, 0 from profiles order by account_id <> '${accountId}', md5(account_id::text)
      limit ${people === 0 ? 0 : people + 1}`
  )
  await plainClient.query('vacuum (analyze) venues')
}

interface Statement {
  name?: string
  text: string
  values?: unknown[]
}

/** A prepared statement under a name of its own: the one it was captured with belongs to another connection. */
const rename = ({ name, text, values }: Statement): Statement => ({
  text,
  ...(values && { values }),
  ...(name && { name: createHash('md5').update(text).digest('hex') })
})

/** The statement as it would be if nobody could be hidden. */
const withoutHiding = (statement: Statement): Statement => ({
  ...statement,
  text: statement.text.replaceAll(' and not hidden', '').replaceAll(
    /not exists \(\s*select from hidden_people [^]*?offset 0\)/g,
    'true'
  )
})

const quantile = (times: number[], part: number) =>
  times.toSorted((one, other) => one - other)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
const time = async (work: () => Promise<unknown>) => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const callRpc = (async () => createFacts('Someone')) as unknown as CallRpc
const nowhere = diskStorage('/nowhere')
const media = createMedia({ storage: nowhere, cdnUrl: 'https://cdn.example' })
const erasure = createFitMatchErasure({ db, callRpc, media, selfies: nowhere })
const app = await createApp({
  db,
  callRpc,
  hooks: createHooks(undefined, silentLog),
  findPeople: async () => [],
  media,
  selfies: nowhere,
  minAge: 18,
  now: () => new Date(),
  fourEyes: new Set(),
  areAdminRoutesOff: false,
  erasure,
  sendEphemeral () {}
}, {
  log: silentLog,
  keys: testKeys
})
const address = await app.listen({ port: 0, host: '127.0.0.1' })

/** CPU milliseconds used by the plain client's own Postgres process. This stays steady on a busy machine. */
const { rows: [backend] } = await plainClient.query('select pg_backend_pid() as pid') as { rows: { pid: number }[] }
const cpuMs = async () =>
  Number((await readFile(`/proc/${backend?.pid}/schedstat`, 'utf8').catch(() => '0')).split(' ')[0]) / 1e6

try {
  await migrate(schemaUrl, path.resolve(import.meta.dirname, '..'))
  let filled = 0
  const rows: object[] = []
  for (const size of sizes) {
    const took = await time(async () => await insertPeople(filled + 1, size))
    filled = size
    console.log(`${size.toLocaleString('en')} profiles after ${(took / 1000).toFixed(0)} s`)
    for (
      const [name, rank, swiped, hidden, gym] of [
        ['largest place', 0, 0, 0, 0],
        ['largest, in a gym of 5,000', 0, 0, 0, 5_000],
        ['largest, 1,000 hidden', 0, 0, 1_000, 0],
        ['largest, a fifth hidden', 0, 0, size / 5, 0],
        ['largest, 2,000 swiped', 0, 2_000, 0, 0],
        ['medium', 60, 0, 0, 0],
        ['medium, a fifth hidden', 60, 0, size / 5, 0],
        ['smallest', 199, 0, 0, 0]
      ] as const
    ) {
      await hidePeople(hidden)
      const me = await insertSearcher(rank, swiped)
      await fillGym(me.accountId, gym)
      const { total } = await discover(db, me, { limit: 10, excluded: [], minAge: 18 })
      const headers = bearer(me.accountId)
      const search = async () => {
        const response = await fetch(`${address}/fitmatch/discover`, { headers })
        if (!response.ok) throw new Error(await response.text())
        await response.json()
      }
      await search()
      captured = []
      await search()
      const statements = captured.map((each) => JSON.parse(each) as Statement).map(rename)
      const unchecked = statements.map(withoutHiding).map(rename)
      captured = undefined
      const httpTimes: number[] = []
      const plainTimes: number[] = []
      const run = async (each: Statement[]) => {
        for (const statement of each) await plainClient.query(statement)
      }
      // Before it has planned a statement a few times, Postgres plans it at each execution.
      for (let turn = 0; turn < 10; turn++) for (const each of [statements, unchecked]) await run(each)
      let cpu = 0
      const hidingCosts: number[] = []
      for (let turn = 0; turn < SEARCHES; turn++) {
        httpTimes.push(await time(search))
        const before = await cpuMs()
        plainTimes.push(await time(async () => await run(statements)))
        const between = await cpuMs()
        await run(unchecked)
        cpu += between - before
        hidingCosts.push((between - before) / (await cpuMs() - between))
      }
      rows.push({
        profiles: size,
        from: name,
        fit: total,
        'HTTP p50 ms': quantile(httpTimes, 0.5).toFixed(1),
        'HTTP p99': quantile(httpTimes, 0.99).toFixed(1),
        'plain p50': quantile(plainTimes, 0.5).toFixed(1),
        'plain p99': quantile(plainTimes, 0.99).toFixed(1),
        'cpu ms': (cpu / SEARCHES).toFixed(1),
        'cpu with / without hiding': quantile(hidingCosts, 0.5).toFixed(2)
      })
    }
  }
  console.table(rows)
  const { rows: [index] } = await plainClient.query(
    `select pg_size_pretty(pg_relation_size('profiles_discover')) as size`
  ) as { rows: { size: string }[] }
  const { rows: [version] } = await sql<{ text: string }>`select version() as text`.execute(db)
  console.log(
    `index: ${index?.size}; ${KILOMETRES} km, 10 shown, ${SEARCHES} searches each; ${version?.text.slice(0, 15)}`
  )
} finally {
  await app.close()
  await db.destroy()
  await plainClient.query(`drop schema ${schema} cascade`)
  await plainClient.end()
}
