import { sql } from 'kysely'
import type { Db } from '../tables.ts'

export interface Goals {
  dailyCalories: number | null
  proteinTarget: number | null
  carbsTarget: number | null
  fatTarget: number | null
  goalType: string
  waterMl: number
  sleepMinutes: number
  workoutsPerWeek: number
}

/** The targets of a person without goals. */
export const defaultTargets = { dailyCalories: 2_000, waterMl: 2_000, sleepMinutes: 480, workoutsPerWeek: 3 }

const CALORIE_SHARE = { protein: 0.25, carbs: 0.5, fat: 0.25 }
const KCAL_PER_GRAM = { protein: 4, carbs: 4, fat: 9 }
export const gramsOf = (nutrient: keyof typeof CALORIE_SHARE, calories: number) =>
  Math.round(calories * CALORIE_SHARE[nutrient] / KCAL_PER_GRAM[nutrient])

/**
 * A person's goals. Missing nutrients are derived from the calories: protein 25 % and carbs 50 % at 4 kcal a gram, fat
 * 25 % at 9. Undefined if no goal was ever set.
 */
export async function findGoals (db: Db, accountId: string): Promise<Goals | undefined> {
  const goals = await db.selectFrom('goals').where('account_id', '=', accountId)
    .select([
      sql<number | null>`daily_calories::float8`.as('dailyCalories'),
      sql<number | null>`protein_target::float8`.as('proteinTarget'),
      sql<number | null>`carbs_target::float8`.as('carbsTarget'),
      sql<number | null>`fat_target::float8`.as('fatTarget'),
      'goal_type as goalType',
      'water_ml as waterMl',
      'sleep_minutes as sleepMinutes',
      'workouts_per_week as workoutsPerWeek'
    ])
    .executeTakeFirst()
  if (!goals || goals.dailyCalories === null) return goals
  return {
    ...goals,
    proteinTarget: goals.proteinTarget ?? gramsOf('protein', goals.dailyCalories),
    carbsTarget: goals.carbsTarget ?? gramsOf('carbs', goals.dailyCalories),
    fatTarget: goals.fatTarget ?? gramsOf('fat', goals.dailyCalories)
  }
}

/** The targets that hold now. */
export async function readTargets (db: Db, accountId: string) {
  const goals = await findGoals(db, accountId)
  const workoutsPerWeek = goals?.workoutsPerWeek ?? await findWorkoutFrequency(db, accountId)
  return {
    ...defaultTargets,
    ...goals,
    workoutsPerWeek: workoutsPerWeek ?? defaultTargets.workoutsPerWeek,
    dailyCalories: goals?.dailyCalories ?? defaultTargets.dailyCalories
  }
}

/** How often the person wants to work out, as they said in their profile. */
async function findWorkoutFrequency (db: Db, accountId: string) {
  const facts = await db.selectFrom('profile_facts').where('account_id', '=', accountId)
    .select('workout_frequency as workoutFrequency').executeTakeFirst()
  return facts?.workoutFrequency
}

/** The targets of each day since `from`: those that held at its time. */
export async function readTargetsOfDays (db: Db, accountId: string, from: Temporal.PlainDate) {
  const [current, past] = await Promise.all([
    readTargets(db, accountId),
    db.selectFrom('past_targets').where('account_id', '=', accountId)
      .where(sql<boolean>`last_day >= ${from.toString()}::date`)
      .select([
        sql<string>`last_day::text`.as('lastDay'),
        sql<number>`daily_calories::float8`.as('dailyCalories'),
        'water_ml as waterMl',
        'sleep_minutes as sleepMinutes',
        'workouts_per_week as workoutsPerWeek'
      ])
      .orderBy('last_day')
      .execute()
  ])
  return (day: string) => past.find(({ lastDay }) => day <= lastDay) ?? current
}

/** The nutritional part of the goals (identity's `nutritionGoal`): null until `dailyCalories` is set. */
export function nutritionGoalOf (goals: Goals | undefined) {
  if (!goals || goals.dailyCalories === null) return null
  const { dailyCalories, proteinTarget, carbsTarget, fatTarget, goalType } = goals
  return {
    dailyCalories,
    proteinTarget: proteinTarget ?? 0,
    carbsTarget: carbsTarget ?? 0,
    fatTarget: fatTarget ?? 0,
    goalType
  }
}
