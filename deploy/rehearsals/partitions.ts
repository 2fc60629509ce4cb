// Compares likes in one table with likes in monthly partitions, and a feed on a primary with one on a read replica, at
// ten million rows or as many as its argument says. Compare figures of one run only.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startPostgresPair } from './failover/postgres-pair.ts'
import { percentile } from './kit/percentile.ts'

const ROWS = Number(process.argv[2] ?? 10_000_000)
const MONTHS = 12
const POSTS = Math.ceil(ROWS / 20)
const READS = 2_000
const NEW_LIKES = 50_000

const folder = await mkdtemp(path.join(tmpdir(), 'tandem-scale-'))
const pair = await startPostgresPair(folder)
try {
  const [primary, standby] = [await connect(pair.primaryUrl), await connect(pair.standbyUrl)]
  await fill(primary)
  for (const table of ['likes_one', 'likes_monthly']) await measureTable(primary, table)
  await compareExpiry(primary)
  await waitForReplay(primary, standby)
  await compareReplica(primary, standby)
  for (const client of [primary, standby]) await client.end()
} finally {
  await pair.stop()
  await rm(folder, { recursive: true, force: true })
}

async function connect (connectionString: string) {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The same rows in both tables: likes of a year, on posts that are a little older than their likes. */
async function fill (client: pg.Client) {
  const columns = 'id uuid not null, post_id uuid not null, account_id uuid not null, created_at timestamptz not null'
  await client.query(`set synchronous_commit = off`)
  await client.query(`create table likes_one (${columns})`)
  await client.query(`create table likes_monthly (${columns}) partition by range (created_at)`)
  for (let month = 0; month <= MONTHS; month++) {
    await client.query(`create table likes_monthly_${month} partition of likes_monthly
      for values from ('${monthStart(month)}') to ('${monthStart(month + 1)}')`)
  }
  await timed(`${ROWS.toLocaleString('en')} rows, twice, with indexes`, async () => {
    await client.query(
      `insert into likes_one
      select uuidv7(), md5((n * ${POSTS}::bigint / ${ROWS} - floor(random() ^ 4 * 1000))::text)::uuid,
        md5((random() * 100000)::int::text)::uuid,
        '${monthStart(0)}'::timestamptz + interval '365 days' * (n::float8 / ${ROWS})
      from generate_series(1, ${ROWS}::bigint) as n`
    )
    await client.query('insert into likes_monthly select * from likes_one')
    for (const table of ['likes_one', 'likes_monthly']) {
      await client.query(`create index on ${table} (post_id, id desc)`)
      await client.query(`create index on ${table} (account_id)`)
      await client.query(`vacuum analyze ${table}`)
    }
  })
}

function monthStart (month: number) {
  return new Date(Date.UTC(2025, 10 + month, 1)).toISOString().slice(0, 10)
}

async function measureTable (client: pg.Client, table: string) {
  const { rows: [size] } = await client.query<{ indexes: string, part: string }>(
    `select pg_size_pretty(sum(bytes)) as indexes, pg_size_pretty(max(bytes)) as part from (
      select pg_indexes_size(oid) as bytes from pg_class where relname ~ ('^' || $1) and relkind = 'r'
    ) parts`,
    [table]
  )
  const latest = await samplePosts(client, table)
  const read = await measure(
    client,
    `select id, account_id from ${table} where post_id = $1 order by id desc limit 20`,
    latest
  )
  const since = performance.now()
  await client.query(
    `insert into ${table} select uuidv7(), md5((${POSTS} - floor(random() * 100000))::text)::uuid,
      md5(n::text)::uuid, '2026-11-20'::timestamptz from generate_series(1, ${NEW_LIKES}) as n`
  )
  const perSecond = NEW_LIKES / (performance.now() - since) * 1_000
  console.log(
    `${table}: indexes ${size!.indexes}, those of one part ${size!.part}; a page of likers p50 ${read.p50} ms, p99 ` +
      `${read.p99} ms; ${Math.round(perSecond).toLocaleString('en')} inserts/s`
  )
}

async function samplePosts (client: pg.Client, table: string) {
  const { rows } = await client.query<{ post_id: string }>(
    `select post_id from ${table} tablesample system (${
      Math.min(100, 100_000_000 / ROWS / 10)
    }) order by random() limit ${READS}`
  )
  return rows.map(({ post_id: id }) => [id])
}

async function measure (client: pg.Client, text: string, values: unknown[][]) {
  const times: number[] = []
  for (const each of values) {
    const since = performance.now()
    await client.query({ name: text.slice(0, 60), text, values: each })
    times.push(performance.now() - since)
  }
  return { p50: percentile(times, 50).toFixed(2), p99: percentile(times, 99).toFixed(2) }
}

/** What it costs to forget the oldest month. */
async function compareExpiry (client: pg.Client) {
  const wal = async () =>
    Number((await client.query<{ at: string }>("select pg_current_wal_lsn() - '0/0' as at")).rows[0]!.at)
  for (
    const [name, statement] of [
      ['delete', `delete from likes_one where created_at < '${monthStart(1)}'`],
      ['drop of a partition', 'drop table likes_monthly_0']
    ] as const
  ) {
    const before = await wal()
    await timed(name, async () => await client.query(statement))
    console.log(`  ${((await wal() - before) / 1e6).toFixed(1)} MB of WAL`)
  }
}

async function waitForReplay (primary: pg.Client, standby: pg.Client) {
  const { rows: [at] } = await primary.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn')
  for (;; await sleep(200)) {
    const { rows: [replayed] } = await standby.query<{ ok: boolean }>(
      'select pg_last_wal_replay_lsn() >= $1 as ok',
      [at!.lsn]
    )
    if (replayed!.ok) return
  }
}

/** Reads on each while the primary is written to, and how late the replica is. */
async function compareReplica (primary: pg.Client, standby: pg.Client) {
  const writer = await connect(pair.primaryUrl)
  const posts = await samplePosts(primary, 'likes_monthly')
  const text = 'select id, account_id from likes_monthly where post_id = $1 order by id desc limit 20'
  let isOver = false
  let written = 0
  const lags: number[] = []
  const writing = (async () => {
    for (; !isOver; written++) {
      await writer.query(
        `insert into likes_monthly values (uuidv7(), gen_random_uuid(), gen_random_uuid(), '2026-11-20')`
      )
    }
  })()
  const watching = (async () => {
    for (; !isOver; await sleep(20)) {
      const { rows: [row] } = await primary.query<{ ms: number }>(
        'select coalesce(extract(epoch from replay_lag) * 1000, 0)::float8 as ms from pg_stat_replication'
      )
      if (row) lags.push(row.ms)
    }
  })()
  const onStandby = await measure(standby, text, posts)
  const reader = await connect(pair.primaryUrl)
  const onPrimary = await measure(reader, text, posts)
  isOver = true
  await Promise.all([writing, watching])
  for (const client of [writer, reader]) await client.end()
  console.log(
    `while ${written} single inserts commit on both: a page on the primary p50 ${onPrimary.p50}, p99 ` +
      `${onPrimary.p99} ms; on the replica p50 ${onStandby.p50}, p99 ${onStandby.p99} ms; the replica is ` +
      `${percentile(lags, 50).toFixed(1)} ms late (p50), ${percentile(lags, 99).toFixed(1)} ms (p99)`
  )
}

async function timed (name: string, work: () => Promise<unknown>) {
  const since = performance.now()
  await work()
  console.log(`${name}: ${((performance.now() - since) / 1_000).toFixed(1)} s`)
}
