import { sql } from 'kysely'
import { mondayOf } from '../calendar.ts'
import type { Db } from '../tables.ts'

/** The days of each range; of a year each point is a week. */
export const ranges = { '7d': 7, '30d': 30, '1y': 365 } as const
export type Range = keyof typeof ranges

// A day without an entry of the kind has no value, which is not 0.
const figures = {
  steps: sql`measured.steps`,
  distance: sql`measured.distance_meters`,
  activeEnergy: sql`measured.active_energy`,
  heartRate: sql`measured.heart_rate_avg`,
  restingHeartRate: sql`measured.resting_heart_rate`,
  workouts: sql`nullif(summary.workouts, 0)`,
  workoutMinutes: sql`case when summary.workouts > 0 then summary.workout_minutes end`,
  calories: sql`case when summary.food_entries > 0 then summary.calories end`,
  water: sql`case when summary.water_entries > 0 then summary.water_ml end`,
  sleep: sql`case when summary.sleep_entries > 0 then summary.sleep_minutes end`,
  weight: sql`newest.value`,
  bodyFat: sql`newest.value`
} as const
export type Metric = keyof typeof figures
export const metrics = Object.keys(figures) as Metric[]

// What is read of logs, because the newest of a day counts.
const newestOf: Partial<Record<Metric, { type: string, field: string }>> = {
  weight: { type: 'WEIGHT', field: 'kg' },
  bodyFat: { type: 'BODY_FAT', field: 'percent' }
}

/** The metric of each day up to `today`, or its average in each week of the last year by the Mondays. */
export async function readTrend (
  db: Db,
  accountId: string,
  { metric, range, today }: { metric: Metric, range: Range, today: Temporal.PlainDate }
) {
  const start = today.subtract({ days: ranges[range] - 1 })
  const isByWeek = range === '1y'
  const from = isByWeek ? mondayOf(start) : start
  const unit = isByWeek ? 'week' : 'day'
  const { rows } = await sql<{ date: string, value: number | null }>`
    select date_trunc(${sql.lit(unit)}, days.day)::date::text as date, round(avg(${
    figures[metric]
  })::numeric, 1)::float8 as value
    from (
      select series::date as day
      from generate_series(${from.toString()}::timestamp, ${today.toString()}::timestamp, '1 day') series
    ) days
    left join daily_summaries summary on summary.account_id = ${accountId} and summary.day = days.day
    left join daily_measurements measured on measured.account_id = ${accountId} and measured.day = days.day
    ${newestOfDays(accountId, metric, from)}
    group by 1 order by 1`.execute(db)
  return rows
}

function newestOfDays (accountId: string, metric: Metric, from: Temporal.PlainDate) {
  const log = newestOf[metric]
  if (!log) return sql``
  return sql`
    left join (
      select distinct on (day) day, (data ->> ${sql.lit(log.field)})::float8 as value
      from logs
      where account_id = ${accountId} and type = ${sql.lit(log.type)}
        and at >= ${from.toString()}::timestamp at time zone 'UTC' - interval '15 hours'
      order by day, at desc, client_id
    ) newest on newest.day = days.day`
}
