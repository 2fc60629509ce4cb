// Erases 50 accounts while others write, processes are killed thirty times, NATS is wiped and Redis flushed. Afterwards
// nothing may name an erased person, and nobody else may have lost anything. Only the clock is moved: the grace period
// and the waits between the sweeps.
import { setTimeout as sleep } from 'node:timers/promises'
import { runConcurrently, seededRandom, startNats, startRedis } from '@tandem/test-kit'
import { Redis } from 'ioredis'
import pg from 'pg'
import { serviceNames as services } from '../../../gateway/routes.ts'
import { check, haveAllPassed } from '../kit/checks.ts'
import { call } from '../kit/call.ts'
import { withStack } from '../kit/stack.ts'
import { listFiles } from '../kit/stored-files.ts'
import { readTraces } from '../kit/traces.ts'
import { countWrongCounters, findLost } from './erasure-checks.ts'
import { keepWriting, meet, settle, type Person, type Written } from '../kit/settled-people.ts'
import { killRepeatedly, wipeInTurn, type Rehearsal } from '../kit/kills.ts'

const ERASED = 50
const QUIET = 5
const WRITERS = 3
const KILLS = 30
const KILL_INTERVAL_MS = 2_500
const END_TIMEOUT_MS = 240_000
const HOUSEKEEPING_MS = 5_000

/** Measures it. @returns whether nothing stays of the erased, and nothing else is lost */
async function erasure () {
  const cleanups: (() => unknown)[] = []
  const t = { teardown: (work: () => unknown) => cleanups.push(work), passing: haveAllPassed }
  const random = seededRandom(t)
  const [redis, nats] = [await startRedis(t), await startNats(t)]
  await withStack(async (stack, dataDir) => {
    const database = new pg.Pool({ connectionString: stack.postgres.url, max: 2 })
    database.on('error', () => {})
    await rehearse({ stack, dataDir, database, random, servers: { NATS: nats, Redis: redis } })
    await database.end()
  }, { REDIS_URL: redis.url, NATS_URL: nats.url })
  for (const cleanup of cleanups.reverse()) await cleanup()
  return haveAllPassed()
}

async function rehearse ({ stack, dataDir, database, random, servers }: Rehearsal) {
  const settleAll = async (name: string, count: number) =>
    await runConcurrently(
      Array.from({ length: count }, (_, number) => async () => await settle(stack, `${name}_${number}`)),
      4
    )
  const quiet = await settleAll('quiet', QUIET)
  const writers = await settleAll('writer', WRITERS)
  const filesBefore = await listFiles(dataDir)
  const erased = await settleAll('erased', ERASED)
  const comments = await runConcurrently(
    erased.map((person, number) => async () => await meet(person, quiet[number % QUIET]!)),
    4
  )
  await sleep(5_000)
  // One regular expression each, because every row of every table is compared with it.
  const gone = [`${erased.map(({ id }) => id).join('|')}|erased_\\d`]
  // What goes with them names only its own id in some tables.
  const theirs = [...gone, [...erased.map(({ postId }) => postId), ...comments.flat()].join('|')]
  const stays = [quiet.map(({ id }) => id).join('|')]
  const seeded = await readTraces(database, { traces: gone, without: [] })
  const before = await readTraces(database, { traces: stays, without: theirs })
  console.log(`${ERASED} people to erase are named in ${sum(seeded)} rows of ${seeded.size} tables`)

  const written: Written = { posts: new Map(), acknowledgedComments: [] }
  let isOver = false
  const writing = writers.map(async (author) => await keepWriting(author, erased, written, () => !isOver))
  const names = ['gateway', ...services]
  const goesOn = (kill: number) => kill < KILLS
  const [outages] = await Promise.all([
    killRepeatedly({ dataDir, random, names, intervalMs: KILL_INTERVAL_MS, goesOn }),
    requestDeletions(database, erased),
    wipeInTurn(servers, KILLS * KILL_INTERVAL_MS / 3)
  ])
  const since = Date.now()
  await waitForStatus(database, ['ERASED', 'CLOSED'])
  console.log(`all erased ${Date.now() - since} ms after the last kill; ${outages.length} kills`)
  isOver = true
  await Promise.all(writing)
  await moveClock({ database, dataDir, random })

  await verifyErased({ stack, dataDir, database }, { gone, filesBefore })
  await verifyOthers(database, { stays, theirs, before, written })
}

/** Requests every deletion, through the gateway, and ends its grace period at once. */
async function requestDeletions (database: pg.Pool, people: Person[]) {
  for (const { id, password, send } of people) {
    for (;;) {
      const { rowCount } = await database.query(
        `update identity.erasures set erase_at = now() where account_id = $1 and status = 'SCHEDULED'`,
        [id]
      )
      if (rowCount === 1) break
      try {
        const { data: { proof } } = await send<{ data: { proof: string } }>('POST', '/account/proof', {
          purpose: 'DELETE',
          password
        })
        await send('POST', '/account/deletion', { proof })
      } catch {
        // The process was killed; whether it had scheduled the deletion is in the table.
        await sleep(500)
      }
    }
    await sleep(KILLS * KILL_INTERVAL_MS / ERASED / 2)
  }
}

async function waitForStatus (database: pg.Pool, statuses: string[]) {
  const until = Date.now() + END_TIMEOUT_MS
  for (;;) {
    const { rows } = await database.query<{ status: string, count: number }>(
      'select status, count(*)::int as count from identity.erasures group by status'
    )
    const done = rows.filter(({ status }) => statuses.includes(status)).reduce((total, { count }) => total + count, 0)
    if (done === ERASED) return
    if (Date.now() > until) throw new Error(`the erasures did not end: ${JSON.stringify(rows)}`)
    await sleep(1_000)
  }
}

/** Makes every sweep due at once, until all erasures are closed. */
async function moveClock ({ database, dataDir, random }: Pick<Rehearsal, 'database' | 'dataDir' | 'random'>) {
  // The mail with the receipt stays for an hour.
  await database.query(`update identity.mails set created_at = created_at - interval '1 hour'`)
  for (const service of services) {
    const { rows: [table] } = await database.query(`select to_regclass('"${service}".idempotency_keys') as name`)
    if (table?.name === null) continue
    // Responses that can be repeated for a day.
    await database.query(`update "${service}".idempotency_keys set created_at = created_at - interval '1 day'`)
  }
  let isClosed = false
  const closing = waitForStatus(database, ['CLOSED']).finally(() => isClosed = true)
  while (!isClosed) {
    for (const service of services) {
      await database.query(`update "${service}".departures set next_pass_at = now() where next_pass_at > now()`)
    }
    await sleep(1_000)
  }
  await closing
  // Housekeeping runs when a service starts.
  for (const name of services) {
    await killRepeatedly({ dataDir, random, names: [name], intervalMs: 0, goesOn: (kill) => kill < 1 })
  }
  await sleep(HOUSEKEEPING_MS)
}

// What names an account by its id on purpose; and its username, which stays taken for 90 days.
const stubs = new Set(['departures', 'outbox', 'erasures', 'accounts', 'reserved_usernames'])

interface Erased {
  gone: string[]
  filesBefore: string[]
}

async function verifyErased (
  { stack, dataDir, database }: Pick<Rehearsal, 'stack' | 'dataDir' | 'database'>,
  { gone, filesBefore }: Erased
) {
  const left = await readTraces(database, { traces: gone, without: [] })
  const tables = [...left.keys()].filter((name) => !stubs.has(name.split('.')[1]!))
  check(tables.length === 0, `no row of any table names them ${tables.join(' ')}`)
  const files = await listFiles(dataDir)
  const added = files.filter((file) => !filesBefore.includes(file))
  check(added.length === 0, `no file of them is left ${added.join(' ')}`)
  const lost = filesBefore.filter((file) => !files.includes(file))
  check(lost.length === 0, 'no file of anybody else is gone')
  const redis = new Redis(stack.redis.url)
  // The gateway's counts of requests, which hold nothing but a number, expire within an hour.
  const keys = (await redis.keys('*')).filter((key) => new RegExp(gone[0]!).test(key) && !key.startsWith('limit:'))
  redis.disconnect()
  check(keys.length === 0, `no key of Redis names them ${keys.join(' ')}`)
  const { rows } = await database.query<{ id: string }>('select id from identity.erasures')
  const receipts = await Promise.all(
    rows.map(async ({ id }) =>
      (await call<
        { data: { deletion: { services: Record<string, { rows: Record<string, number>, files: number }> } } }
      >(
        stack,
        'GET',
        `/account/deletions/${id}`
      )).data.deletion.services
    )
  )
  const exact = receipts.filter(({ social, dashboard, profile }) =>
    social?.rows['posts'] === 1 && social.files === 1 && dashboard?.rows['logs'] === 2 && profile?.rows['uploads'] === 2
  )
  check(exact.length === ERASED, `every receipt has the seeded counts (${exact.length} of ${receipts.length})`)
}

// They change by themselves, expire, or change with the inbox of somebody else.
const volatile = new Set([
  'outbox',
  'processed_events',
  'idempotency_keys',
  'inboxes',
  'activity',
  'sessions',
  'deliveries'
])

interface Others {
  stays: string[]
  theirs: string[]
  before: Awaited<ReturnType<typeof readTraces>>
  written: Written
}

async function verifyOthers (database: pg.Pool, { stays, theirs, before, written }: Others) {
  const after = await readTraces(database, { traces: stays, without: theirs })
  const changed = [...before].filter(([name, { digest }]) =>
    !volatile.has(name.split('.')[1]!) && after.get(name)?.digest !== digest
  )
  check(changed.length === 0, `the rows of ${QUIET} others are unchanged ${changed.map(([name]) => name).join(' ')}`)
  const lost = await findLost(database, written)
  const acknowledged = [...written.posts.values()].filter((outcome) => outcome === 'acknowledged').length
  check(
    lost.length === 0,
    `of ${acknowledged} posts and ${written.acknowledgedComments.length} comments none is lost or doubled ${lost.join()}`
  )
  const wrong = await countWrongCounters(database)
  check(wrong.length === 0, `every counter is the number of its rows ${wrong.join(' ')}`)
}

const sum = (found: Map<string, { count: number }>) =>
  [...found.values()].reduce((total, { count }) => total + count, 0)

if (!await erasure()) process.exitCode = 1
