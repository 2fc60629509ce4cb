import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { Erased, Id, Nullable, Timestamp, erasureCheck, personalData } from './schemas.ts'

export const LevelReached = defineEvent(
  'dashboard.level.reached.v1',
  Type.Object({ accountId: Id, level: Type.Integer({ minimum: 2 }) })
)

/** The heaviest set of an exercise so far. */
export const RecordSet = defineEvent(
  'dashboard.record.set.v1',
  Type.Object({
    accountId: Id,
    exercise: Type.String(),
    weightKg: Type.Number(),
    reps: Type.Integer()
  })
)

/**
 * The newest weight log of a person changed, in kilograms. `previousAt` is the time of the one before: later than `at` if
 * that was deleted or moved.
 */
export const WeightLogged = defineEvent(
  'dashboard.weight.logged.v1',
  Type.Object({ accountId: Id, kg: Type.Number(), at: Timestamp, previousAt: Nullable(Timestamp) })
)

export const AchievementEarned = defineEvent(
  'dashboard.achievement.earned.v1',
  Type.Object({ accountId: Id, achievement: Type.String() })
)

/** A running fast reached its goal. It runs on until its owner ends it. */
export const FastFinished = defineEvent(
  'dashboard.fast.finished.v1',
  Type.Object({ accountId: Id, fastId: Id, goalHours: Type.Integer({ minimum: 1 }) })
)

const ofAccount = Type.Object({ accountId: Id })

/** The training totals in /auth/me. */
export const TrainingTotals = defineRpc('dashboard.totals.v1', {
  request: ofAccount,
  response: Type.Object({
    totalWorkouts: Type.Integer(),
    totalFoodEntries: Type.Integer(),
    nutritionGoal: Nullable(Type.Object({
      dailyCalories: Type.Number(),
      proteinTarget: Type.Number(),
      carbsTarget: Type.Number(),
      fatTarget: Type.Number(),
      goalType: Type.String()
    }))
  })
})

/** The basis of badges: consecutive ISO weeks with a workout, and personal records. */
export const TrainingProgress = defineRpc('dashboard.progress.v1', {
  request: ofAccount,
  response: Type.Object({ weekStreak: Type.Integer(), personalRecords: Type.Integer() })
})

export const DashboardAccountErased = defineEvent('dashboard.account.erased.v1', Erased)
export const DashboardPersonalData = defineRpc('dashboard.personal-data.v1', personalData)
export const DashboardErasureCheck = defineRpc('dashboard.erasure-check.v1', erasureCheck)
