import { sql, type RawBuilder } from 'kysely'
import type { LogType, Trx } from '../tables.ts'
import { XP, xpOf } from './rules.ts'

/** The fields of a daily summary that progress depends on. */
export interface Summary {
  day: string
  workouts: number
  workoutMinutes: number
  foodEntries: number
  waterEntries: number
  sleepEntries: number
  records: number
  xp: number
}

/** Deletes the summaries of `days`, and returns them. */
export async function deleteSummaries (trx: Trx, accountId: string, days: string[]): Promise<Summary[]> {
  return await trx.deleteFrom('daily_summaries').where('account_id', '=', accountId).where(isOneOf(days))
    .returning([
      dayAsText,
      'workouts',
      'workout_minutes as workoutMinutes',
      'food_entries as foodEntries',
      'water_entries as waterEntries',
      'sleep_entries as sleepEntries',
      'records',
      'xp'
    ])
    .execute()
}

/** Writes the summary of each of `days` that has logs, and returns them. The caller holds the lock on the account. */
export async function insertSummaries (trx: Trx, accountId: string, days: string[]): Promise<Summary[]> {
  const records = await countRecords(trx, accountId, days)
  const summaries = (await sumLogs(trx, accountId, days)).map((sums) => {
    const summary = { ...sums, records: records.get(sums.day) ?? 0 }
    return { ...summary, xp: xpOf(summary) }
  })
  await sql`
    insert into daily_summaries (
      account_id, day, workouts, workout_minutes, food_entries, calories, protein, water_entries, water_ml,
      sleep_entries, sleep_minutes, sleep_quality, sleep_ratings, weight_entries, records, xp
    )
    select ${accountId}, day, workouts, "workoutMinutes", "foodEntries", calories, protein, "waterEntries", "waterMl",
      "sleepEntries", "sleepMinutes", "sleepQuality", "sleepRatings", "weightEntries", records, xp
    from jsonb_to_recordset(${JSON.stringify(summaries)}::jsonb) as summary (
      day date, workouts integer, "workoutMinutes" integer, "foodEntries" integer, calories numeric, protein numeric,
      "waterEntries" integer, "waterMl" integer, "sleepEntries" integer, "sleepMinutes" integer,
      "sleepQuality" integer, "sleepRatings" integer, "weightEntries" integer, records integer, xp integer
    )`.execute(trx)
  return summaries
}

/** What the logs of each day add up to; days without logs are left out. Numerics are text, so that no digit is lost. */
async function sumLogs (trx: Trx, accountId: string, days: string[]) {
  return await trx.selectFrom('logs').where('account_id', '=', accountId).where(isOneOf(days))
    .select([
      dayAsText,
      count('WORKOUT').as('workouts'),
      sum('WORKOUT', integer('durationMinutes')).as('workoutMinutes'),
      sum('WORKOUT', sql`least(${integer('durationMinutes')}, ${lit(XP.maxMinutesPerWorkout)})`).as('minutesWithXp'),
      count('FOOD').as('foodEntries'),
      sum<string>('FOOD', numeric('calories')).as('calories'),
      sum<string>('FOOD', numeric('protein')).as('protein'),
      count('WATER').as('waterEntries'),
      sum('WATER', integer('ml')).as('waterMl'),
      count('SLEEP').as('sleepEntries'),
      sum('SLEEP', integer('minutes')).as('sleepMinutes'),
      sum('SLEEP', integer('quality')).as('sleepQuality'),
      sql<number>`count(${integer('quality')}) filter (where type = 'SLEEP' and counts)`.as('sleepRatings'),
      count('WEIGHT').as('weightEntries')
    ])
    .groupBy('day')
    .execute()
}

async function countRecords (trx: Trx, accountId: string, days: string[]) {
  const rows = await trx.selectFrom('logs').innerJoin('lifts', 'lifts.log_id', 'logs.id')
    .where('logs.account_id', '=', accountId).where(isOneOf(days)).where('is_record', '=', true)
    .select((row) => [dayAsText, row.fn.countAll<number>().as('records')])
    .groupBy('day')
    .execute()
  return new Map(rows.map(({ day, records }) => [day, records]))
}

const { lit } = sql
const dayAsText = sql<string>`day::text`.as('day')
const isOneOf = (days: string[]) => sql<boolean>`day = any(${days}::date[])`
const figure = (field: string) => sql`coalesce(session_data, data)->>${lit(field)}`
const integer = (field: string) => sql`(${figure(field)})::integer`
const numeric = (field: string) => sql`(${figure(field)})::numeric`
const count = (type: LogType) => sql<number>`count(*) filter (where type = ${lit(type)} and counts)`
const sum = <Sum = number>(type: LogType, amount: RawBuilder<unknown>) =>
  sql<Sum>`coalesce(sum(${amount}) filter (where type = ${lit(type)} and counts), 0)`

/** Those of these ISO weeks, given by their Mondays, that have a workout. */
export async function weeksWithWorkout (trx: Trx, accountId: string, mondays: string[]) {
  const { rows } = await sql<{ monday: string }>`
    select monday::text from unnest(${mondays}::date[]) as week (monday)
    where exists (
      select from daily_summaries
      where account_id = ${accountId} and day between monday and monday + 6 and workouts > 0)`.execute(trx)
  return new Set(rows.map(({ monday }) => monday))
}
