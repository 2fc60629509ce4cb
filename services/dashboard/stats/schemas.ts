import Type from 'typebox'
import { Nullable, named } from '@tandem/http-kit'

export const StatsSchema = named(
  'Stats',
  Type.Object({
    streak: Type.Integer({ description: 'Days in a row with a log, up to today or, while today is empty, yesterday' }),
    longestStreak: Type.Integer(),
    totalXp: Type.Integer(),
    level: Type.Integer({ description: 'Level n starts at 50·n·(n-1) XP' }),
    totalPRs: Type.Integer(),
    totalWorkouts: Type.Integer(),
    avgWorkoutDuration: Type.Integer({ description: 'Average minutes of all workouts' }),
    workoutsThisWeek: Type.Integer({ description: 'Since Monday' }),
    workoutsThisMonth: Type.Integer({ description: 'Since the first of the month' }),
    todayCalories: Type.Number(),
    todayProtein: Type.Number({ description: 'Grams' }),
    currentWeight: Nullable(
      Type.Number({ description: 'Kilograms: the newest of the weight logs and the weight in the profile' })
    )
  })
)

export type Stats = Type.Static<typeof StatsSchema>

export const exampleStats = {
  streak: 4,
  longestStreak: 12,
  totalXp: 1240,
  level: 5,
  totalPRs: 6,
  totalWorkouts: 9,
  avgWorkoutDuration: 48,
  workoutsThisWeek: 2,
  workoutsThisMonth: 7,
  todayCalories: 1450,
  todayProtein: 82.5,
  currentWeight: 71.4
}
