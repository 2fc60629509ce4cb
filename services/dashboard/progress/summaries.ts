import { sql } from 'kysely'
import type { Trx } from '../tables.ts'
import { XP } from './rules.ts'

/** The fields of a daily summary that progress depends on. */
export interface Summary {
  day: string
  workouts: number
  workoutMinutes: number
  foodEntries: number
  waterEntries: number
  records: number
  xp: number
}

const summaryColumns = sql`
  day::text, workouts, workout_minutes as "workoutMinutes", food_entries as "foodEntries",
  water_entries as "waterEntries", records, xp`

/** The current summaries of those of `days` that have one. */
export async function readSummaries (trx: Trx, accountId: string, days: string[]) {
  const { rows } = await sql<Summary>`
    select ${summaryColumns} from daily_summaries
    where account_id = ${accountId} and day = any(${days}::date[])`.execute(trx)
  return rows
}

const { lit } = sql

/**
 * Recomputes the summaries of `days` from their logs. The caller holds the lock on the account. A day without logs
 * loses its row.
 */
export async function recalculateSummaries (trx: Trx, accountId: string, days: string[]) {
  const { rows } = await sql<Summary>`
    with counted as (
      select day,
        count(*) filter (where type = 'WORKOUT') as workouts,
        coalesce(sum((data->>'durationMinutes')::integer) filter (where type = 'WORKOUT'), 0) as workout_minutes,
        coalesce(
          sum(least((data->>'durationMinutes')::integer, ${lit(XP.maxMinutesPerWorkout)}))
            filter (where type = 'WORKOUT'), 0
        ) as counted_minutes,
        count(*) filter (where type = 'FOOD') as food_entries,
        coalesce(sum((data->>'calories')::numeric) filter (where type = 'FOOD'), 0) as calories,
        coalesce(sum((data->>'protein')::numeric) filter (where type = 'FOOD'), 0) as protein,
        count(*) filter (where type = 'WATER') as water_entries,
        coalesce(sum((data->>'ml')::integer) filter (where type = 'WATER'), 0) as water_ml,
        count(*) filter (where type = 'SLEEP') as sleep_entries,
        coalesce(sum((data->>'minutes')::integer) filter (where type = 'SLEEP'), 0) as sleep_minutes,
        coalesce(sum((data->>'quality')::integer) filter (where type = 'SLEEP'), 0) as sleep_quality,
        count(*) filter (where type = 'WEIGHT') as weight_entries
      from logs
      where account_id = ${accountId} and day = any(${days}::date[])
      group by day
    ), lifted as (
      select day, count(*) as records
      from logs join lifts on lifts.log_id = logs.id
      where logs.account_id = ${accountId} and day = any(${days}::date[]) and type = 'WORKOUT' and is_record
      group by day
    ), emptied as (
      delete from daily_summaries
      where account_id = ${accountId} and day = any(${days}::date[]) and day not in (select day from counted)
    )
    insert into daily_summaries (
      account_id, day, workouts, workout_minutes, food_entries, calories, protein, water_entries, water_ml,
      sleep_entries, sleep_minutes, sleep_quality, weight_entries, records, xp
    )
    select ${accountId}, day, workouts, workout_minutes, food_entries, calories, protein, water_entries, water_ml,
      sleep_entries, sleep_minutes, sleep_quality, weight_entries, coalesce(records, 0),
      workouts * ${lit(XP.workout)} + counted_minutes * ${lit(XP.minute)}
        + least(food_entries, ${lit(XP.maxFoodsPerDay)}) * ${lit(XP.food)}
        + least(water_entries, ${lit(XP.maxWatersPerDay)}) * ${lit(XP.water)}
        + least(sleep_entries, ${lit(XP.maxSleepsPerDay)}) * ${lit(XP.sleep)}
        + coalesce(records, 0) * ${lit(XP.record)}
    from counted left join lifted using (day)
    on conflict (account_id, day) do update set
      workouts = excluded.workouts, workout_minutes = excluded.workout_minutes, food_entries = excluded.food_entries,
      calories = excluded.calories, protein = excluded.protein,
      water_entries = excluded.water_entries, water_ml = excluded.water_ml,
      sleep_entries = excluded.sleep_entries, sleep_minutes = excluded.sleep_minutes,
      sleep_quality = excluded.sleep_quality, weight_entries = excluded.weight_entries,
      records = excluded.records, xp = excluded.xp
    returning ${summaryColumns}`.execute(trx)
  return rows
}

/** Those of these ISO weeks, given by their Mondays, that have a workout. */
export async function weeksWithWorkout (trx: Trx, accountId: string, mondays: string[]) {
  const { rows } = await sql<{ monday: string }>`
    select monday::text from unnest(${mondays}::date[]) as week (monday)
    where exists (
      select from daily_summaries
      where account_id = ${accountId} and day between monday and monday + 6 and workouts > 0)`.execute(trx)
  return new Set(rows.map(({ monday }) => monday))
}
