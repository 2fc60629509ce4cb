// Lets 1,000 reminders and fasting goals become due within a minute while processes are killed every five seconds, and
// Redis and NATS are wiped once. Each must cause one notification, in time. Rows are written directly into the tables;
// everything else is real.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@tandem/database-kit'
import { seededRandom, startNats, startRedis } from '@tandem/test-kit'
import { sql, type Kysely } from 'kysely'
import { withStack } from './kit/stack.ts'
import { killRepeatedly, wipeInTurn, type Period } from './kit/kills.ts'

const REMINDERS = 700
const FASTS = 300
const WINDOW_MS = 60_000
const KILL_INTERVAL_MS = 5_000
const MAX_DELAY_MS = 2_000
const MAX_DELAY_AFTER_RESTART_MS = 5_000

type Db = Kysely<Record<string, never>>

/** Measures it. @returns whether every limit holds */
async function reminders () {
  const cleanups: (() => unknown)[] = []
  let passed = true
  const t = { teardown: (work: () => unknown) => cleanups.push(work), passing: () => passed }
  const random = seededRandom(t)
  const [redis, nats] = [await startRedis(t), await startNats(t)]
  await withStack(async (stack, dataDir) => {
    const db: Db = connect(stack.postgres.url, { log: { warn () {} }, timeoutFactor: 30 })
    const start = Date.now() + 10_000
    await createDueRows(db, start)
    await sleep(start - Date.now())
    const names = ['fitmatch', 'dashboard', 'notification'] as const
    const goesOn = () => Date.now() < start + WINDOW_MS
    const outages = await Promise.all([
      killRepeatedly({ dataDir, random, names, intervalMs: KILL_INTERVAL_MS, goesOn }),
      wipeInTurn({ Redis: redis, NATS: nats }, WINDOW_MS / 3)
    ])
    passed = report(await collect(db), outages.flat())
    await db.destroy()
  }, { REDIS_URL: redis.url, NATS_URL: nats.url })
  for (const cleanup of cleanups.reverse()) await cleanup()
  return passed
}

/** Rows that become due one after the other, each for a person of its own. */
async function createDueRows (db: Db, start: number) {
  const step = WINDOW_MS / (REMINDERS + FASTS)
  const rows = Array.from({ length: REMINDERS + FASTS }, (_, number) => ({
    accountId: randomUUID(),
    dueAt: new Date(start + number * step),
    isFast: number % 10 < 10 * FASTS / (REMINDERS + FASTS)
  }))
  await sql`
    insert into notification.people (account_id, name, locale, timezone, changed_at)
    select id, 'Person', 'en', 'Asia/Jakarta', now()
    from unnest(${rows.map(({ accountId }) => accountId)}::uuid[]) as each (id)`.execute(db)
  const [fasts, activities] = [rows.filter(({ isFast }) => isFast), rows.filter(({ isFast }) => !isFast)]
  await sql`
    insert into dashboard.fasts (account_id, plan, goal_hours, started_at, goal_at, goal_due_at)
    select account_id, '12:12', 12, due_at - interval '12 hours', due_at, due_at
    from unnest(${fasts.map(({ accountId }) => accountId)}::uuid[], ${fasts.map(({ dueAt }) => dueAt)}::timestamptz[])
      as each (account_id, due_at)`.execute(db)
  await sql`
    with each as (
      select * from unnest(${activities.map(({ accountId }) => accountId)}::uuid[],
        ${activities.map(({ dueAt }) => dueAt)}::timestamptz[]) as each (account_id, due_at)
    ), planned as (
      insert into fitmatch.activities (host_id, title, sport, date, start_time, end_time, timezone, starts_at, ends_at,
        tzdata, location_name, visibility, capacity)
      select account_id, 'Run', 'running', due_at::date, '18:00', '19:00', 'Asia/Jakarta', due_at + interval '1 hour',
        due_at + interval '2 hours', 'zzzz', 'Park', 'INVITED', 2 from each
      returning id, host_id, starts_at
    ), going as (
      insert into fitmatch.activity_participants (activity_id, account_id, state, version)
      select id, host_id, 'GOING', 1 from planned
    )
    insert into fitmatch.activity_timers (activity_id, kind, due_at)
    select id, 'REMIND_1H', starts_at - interval '1 hour' from planned`.execute(db)
}

interface Notified {
  dueAt: Date
  notifiedAt: Date | null
  count: number
}

/** When each person was notified, and how often. Waits until nothing is missing, or for a minute. */
async function collect (db: Db) {
  for (let waited = 0;; waited++) {
    const { rows } = await sql<Notified>`
      with due as (
        select account_id, goal_at as due_at from dashboard.fasts
        union all select host_id, starts_at - interval '1 hour' from fitmatch.activities
      )
      select due_at as "dueAt", min(created_at) as "notifiedAt", count(notifications.id) as count
      from due left join notification.notifications using (account_id) group by account_id, due_at`.execute(db)
    if (waited === 60 || rows.every(({ count }) => count > 0)) return rows
    await sleep(1_000)
  }
}

function report (rows: Notified[], outages: Period[]) {
  const missing = rows.filter(({ count }) => count === 0).length
  const repeated = rows.filter(({ count }) => count > 1).length
  const delays: number[] = []
  const delaysAfterRestart: number[] = []
  for (const { dueAt, notifiedAt } of rows) {
    if (!notifiedAt) continue
    // What becomes due during an outage, or is under way when it begins, counts from its end.
    const ends = outages.filter(([from, to]) => dueAt.getTime() > from - MAX_DELAY_MS && dueAt.getTime() < to)
      .map(([, to]) => to)
    if (ends.length === 0) delays.push(notifiedAt.getTime() - dueAt.getTime())
    else delaysAfterRestart.push(Math.max(0, notifiedAt.getTime() - Math.max(...ends)))
  }
  const p99 = (values: number[]) => values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? 0
  console.log(`${rows.length} due, ${missing} missing, ${repeated} repeated, ${outages.length} outages`)
  console.log(
    `p99 ${p99(delays)} ms after due (${delays.length}); at most ${Math.max(0, ...delaysAfterRestart)} ms after ` +
      `a restart (${delaysAfterRestart.length})`
  )
  return missing + repeated === 0 && p99(delays) <= MAX_DELAY_MS &&
    Math.max(0, ...delaysAfterRestart) <= MAX_DELAY_AFTER_RESTART_MS
}

if (!await reminders()) process.exitCode = 1
