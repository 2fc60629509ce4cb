import { sql } from 'kysely'
import { mondayOf } from '../calendar.ts'
import { defaultTargets } from '../goals/queries.ts'
import { levelOf } from '../progress/rules.ts'
import { stepOf } from '../progress/streaks.ts'
import type { Db, StreakKind } from '../tables.ts'
import type { Stats } from './schemas.ts'

interface Row extends Omit<Stats, 'level' | 'avgWorkoutDuration'> {
  workoutMinutes: number
  currentMl: number
  targetMl: number
  steps: number
  activeEnergy: number
  restingHeartRate: number | null
}

/**
 * The length of the streak that ends on `last`, or on the day before while `last` is empty. Weeks are given by their
 * Mondays. After a flight westward, days that are still to come do not count. One index lookup, however long the
 * streak is.
 */
export const currentStreak = (accountId: string, kind: StreakKind, last: Temporal.PlainDate) => {
  const step = sql.lit(stepOf(kind))
  const day = last.toString()
  return sql<number>`coalesce((
    select (least(last_day, ${day}::date) - first_day) / ${step} + 1
    from streaks
    where account_id = ${accountId} and kind = ${sql.lit(kind)}
      and last_day >= ${day}::date - ${step} and first_day <= ${day}::date
    order by last_day desc limit 1), 0)`
}

const longestStreak = (accountId: string) =>
  sql<number>`coalesce((
    select last_day - first_day + 1 from streaks
    where account_id = ${accountId} and kind = 'DAY' order by last_day - first_day desc limit 1), 0)`

const workoutsSince = (accountId: string, first: Temporal.PlainDate, today: Temporal.PlainDate) =>
  sql<number>`(
    select coalesce(sum(workouts), 0) from daily_summaries
    where account_id = ${accountId} and day between ${first.toString()}::date and ${today.toString()}::date)`

/** The newest of the weight logs and the weight that was entered in the profile. */
const currentWeight = (accountId: string) =>
  sql<number | null>`(
    select kg from (
      (
        select (data->>'kg')::float8 as kg, at from logs
        where account_id = ${accountId} and type = 'WEIGHT' order by at desc, client_id limit 1
      )
      union all select kg, weighed_at from profile_weights
      where account_id = ${accountId} and weighed_at is not null
    ) weights order by at desc limit 1)`

/** What was drunk and measured today. */
interface Today {
  water: { currentMl: number, targetMl: number }
  steps: number
  activeEnergy: number
  restingHeartRate?: number
}

/**
 * The statistics on `today`, and what was drunk and measured. Reads a bounded number of rows, however long the
 * history is.
 */
export async function readStats (
  db: Db,
  accountId: string,
  today: Temporal.PlainDate
): Promise<{ stats: Stats, today: Today }> {
  const { rows: [row] } = await sql<Row>`
    select
      ${currentStreak(accountId, 'DAY', today)} as streak,
      ${longestStreak(accountId)} as "longestStreak",
      coalesce(totals.xp, 0) as "totalXp",
      coalesce(totals.records, 0) as "totalPRs",
      coalesce(totals.workouts, 0) as "totalWorkouts",
      coalesce(totals.workout_minutes, 0) as "workoutMinutes",
      ${workoutsSince(accountId, mondayOf(today), today)} as "workoutsThisWeek",
      ${workoutsSince(accountId, today.with({ day: 1 }), today)} as "workoutsThisMonth",
      coalesce(summary.calories, 0)::float8 as "todayCalories",
      coalesce(summary.protein, 0)::float8 as "todayProtein",
      coalesce(summary.water_ml, 0) as "currentMl",
      coalesce(goals.water_ml, ${defaultTargets.waterMl}) as "targetMl",
      coalesce(measured.steps, 0) as steps,
      coalesce(measured.active_energy, 0) as "activeEnergy",
      measured.resting_heart_rate as "restingHeartRate",
      ${currentWeight(accountId)} as "currentWeight"
    from (select ${accountId}::uuid as account_id) me
    left join totals using (account_id)
    left join goals using (account_id)
    left join daily_summaries summary on summary.account_id = me.account_id and summary.day = ${today.toString()}::date
    left join daily_measurements measured
      on measured.account_id = me.account_id and measured.day = ${today.toString()}::date`
    .execute(db)
  const { currentMl, targetMl, steps, activeEnergy, restingHeartRate, workoutMinutes, ...figures } = row as Row
  return {
    today: {
      water: { currentMl, targetMl },
      steps,
      activeEnergy,
      ...(restingHeartRate !== null && { restingHeartRate })
    },
    stats: {
      ...figures,
      level: levelOf(figures.totalXp),
      avgWorkoutDuration: figures.totalWorkouts === 0 ? 0 : Math.round(workoutMinutes / figures.totalWorkouts)
    }
  }
}
