import { sql } from 'kysely'
import type { Db } from '../tables.ts'
import { readTargets, type Goals } from './queries.ts'

type Change = { [Goal in keyof Goals]?: NonNullable<Goals[Goal]> }

/**
 * Sets the given goals from `today` on and leaves the others unchanged. Earlier days keep the targets that they had.
 */
export async function setGoals (db: Db, accountId: string, change: Change, today: Temporal.PlainDate) {
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
  await db.transaction().execute(async (trx) => {
    const before = await readTargets(trx, accountId)
    await trx.insertInto('past_targets')
      .values({
        account_id: accountId,
        last_day: today.subtract({ days: 1 }).toString(),
        daily_calories: before.dailyCalories,
        water_ml: before.waterMl,
        sleep_minutes: before.sleepMinutes,
        workouts_per_week: before.workoutsPerWeek
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await trx.insertInto('goals').values({ account_id: accountId, ...given })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ ...given, updated_at: sql`now()` }))
      .execute()
  })
}
