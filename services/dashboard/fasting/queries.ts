import { sql } from 'kysely'
import { startOfDay } from '@tandem/account-kit'
import type { Db } from '../tables.ts'
import { MAX_FAST_MS } from './fasts.ts'

export const fastColumns = [
  'id',
  'plan',
  'goal_hours as goalHours',
  'started_at as startedAt',
  'goal_at as goalAt',
  'ended_at as endedAt'
] as const

/** The running fast of an account. */
export async function findRunningFast (db: Db, accountId: string) {
  return await db.selectFrom('fasts').where('account_id', '=', accountId).where('ended_at', 'is', null)
    .select(fastColumns)
    .executeTakeFirst()
}

interface FastFilter {
  from: Date | undefined
  before: Date | undefined
  cursor: Date | undefined
  limit: number
}

/** Fasts by their start, newest first. The start is the cursor: no two fasts of an account start at the same time. */
export async function listFasts (db: Db, accountId: string, { from, before, cursor, limit }: FastFilter) {
  return await db.selectFrom('fasts').where('account_id', '=', accountId)
    .$if(from !== undefined, (fasts) => fasts.where('started_at', '>=', from as Date))
    .$if(before !== undefined, (fasts) => fasts.where('started_at', '<', before as Date))
    .$if(cursor !== undefined, (fasts) => fasts.where('started_at', '<', cursor as Date))
    .select(fastColumns)
    .orderBy('started_at', 'desc')
    .limit(limit)
    .execute()
}

const DAYS_IN_STATS = 7

interface StatsWindow {
  today: Temporal.PlainDate
  zone: string
  now: Date
}

/**
 * Figures of the last seven days, today included. `count`, `reached`, `averageHours` and `longestHours` cover the fasts
 * that ended in these days; the hours of each day include a fast that is running.
 */
export async function readFastingStats (db: Db, accountId: string, { today, zone, now }: StatsWindow) {
  const days = Array.from({ length: DAYS_IN_STATS }, (_, index) => today.subtract({ days: DAYS_IN_STATS - 1 - index }))
  const starts = [...days, today.add({ days: 1 })].map((day) => startOfDay(zone, day))
  const [ended, hours] = await Promise.all([
    readEndedFasts(db, accountId, starts[0] as Date, now),
    readHoursOfDays(db, accountId, starts, now)
  ])
  return { ...ended, days: days.map((day, index) => ({ date: day.toString(), hours: hours[index] ?? 0 })) }
}

async function readEndedFasts (db: Db, accountId: string, from: Date, now: Date) {
  const hours = sql`extract(epoch from ended_at - started_at) / 3600`
  return await db.selectFrom('fasts').where('account_id', '=', accountId)
    .where('ended_at', '>=', from).where('ended_at', '<=', now)
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      sql<number>`count(*) filter (where ended_at >= goal_at)`.as('reached'),
      sql<number>`coalesce(round(avg(${hours}), 1), 0)::float8`.as('averageHours'),
      sql<number>`coalesce(round(max(${hours}), 1), 0)::float8`.as('longestHours')
    ])
    .executeTakeFirstOrThrow()
}

/** The hours of fasting between each two of `starts`. A running fast counts at most as long as a fast can be. */
async function readHoursOfDays (db: Db, accountId: string, starts: Date[], now: Date) {
  const longest = sql`make_interval(secs => ${MAX_FAST_MS / 1_000})`
  const endsAt = sql`least(coalesce(ended_at, started_at + ${longest}), ${now})`
  const { rows } = await sql<{ hours: number }>`
    select round(coalesce(sum(extract(epoch from least(${endsAt}, day_end) - greatest(started_at, day_start))
      / 3600) filter (where id is not null), 0), 1)::float8 as hours
    from unnest(${starts.slice(0, -1)}::timestamptz[], ${starts.slice(1)}::timestamptz[]) as days (day_start, day_end)
    left join fasts on account_id = ${accountId} and started_at < least(day_end, ${now})
      and started_at > day_start - ${longest} and ${endsAt} > day_start
    group by day_start order by day_start`.execute(db)
  return rows.map(({ hours }) => hours)
}
