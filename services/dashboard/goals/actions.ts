import { sql } from 'kysely'
import type { Db, Trx } from '../tables.ts'
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
    const current = await readTargets(trx, accountId)
    await keepTargets(trx, accountId, current, today.subtract({ days: 1 }).toString())
    await trx.insertInto('goals')
      .values({ account_id: accountId, ...given, workouts_per_week: workoutsPerWeek ?? current.workoutsPerWeek })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ ...given, updated_at: sql`now()` }))
      .execute()
  })
}

/**
 * Keeps the targets of now for the days up to `lastDay`. Those days have theirs already if goals were set today before,
 * or on a later day: where the person was before, the calendar was ahead.
 */
async function keepTargets (
  trx: Trx,
  accountId: string,
  { dailyCalories, waterMl, sleepMinutes, workoutsPerWeek }: Awaited<ReturnType<typeof readTargets>>,
  lastDay: string
) {
  const kept = await trx.selectFrom('past_targets').where('account_id', '=', accountId)
    .where(sql<boolean>`last_day >= ${lastDay}::date`).select('account_id').limit(1).executeTakeFirst()
  if (kept) return
  await trx.insertInto('past_targets')
    .values({
      account_id: accountId,
      last_day: lastDay,
      daily_calories: dailyCalories,
      water_ml: waterMl,
      sleep_minutes: sleepMinutes,
      workouts_per_week: workoutsPerWeek
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
