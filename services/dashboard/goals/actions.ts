import { sql } from 'kysely'
import type { Db } from '../tables.ts'
import type { Goals } from './queries.ts'

type Change = { [Goal in keyof Goals]?: NonNullable<Goals[Goal]> }

/** Sets the given goals and leaves the others unchanged. */
export async function setGoals (db: Db, accountId: string, change: Change) {
  const { dailyCalories, proteinTarget, carbsTarget, fatTarget, goalType, waterMl, sleepMinutes, workoutsPerWeek } =
    change
  const given = {
    daily_calories: dailyCalories,
    protein_target: proteinTarget,
    carbs_target: carbsTarget,
    fat_target: fatTarget,
    goal_type: goalType,
    water_ml: waterMl,
    sleep_minutes: sleepMinutes,
    workouts_per_week: workoutsPerWeek
  }
  if (Object.values(given).every((value) => value === undefined)) return
  await db.insertInto('goals').values({ account_id: accountId, ...given })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ ...given, updated_at: sql`now()` }))
    .execute()
}
