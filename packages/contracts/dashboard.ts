import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { Erased, Id, Nullable, Timestamp, erasureCheck, personalData } from './schemas.ts'

export const LevelReached = defineEvent(
  'dashboard.level.reached.v1',
  Type.Object({ accountId: Id, level: Type.Integer({ minimum: 2 }) })
)

/** Logs were deleted or corrected, so a person is on a lower level again. The levels above it can be reached again. */
export const LevelLost = defineEvent(
  'dashboard.level.lost.v1',
  Type.Object({
    accountId: Id,
    level: Type.Integer({ minimum: 1 }),
    /** The highest level that was lost. */
    from: Type.Integer({ minimum: 2 })
  })
)

/** The heaviest set of an exercise in a workout. */
const lift = { logId: Id, exerciseKey: Type.String() }

/** The heaviest set of an exercise so far. It is published again if its log is corrected, and it still is a record. */
export const RecordSet = defineEvent(
  'dashboard.record.set.v1',
  Type.Object({
    accountId: Id,
    logId: Type.Optional(Id),
    exerciseKey: Type.Optional(Type.String()),
    exercise: Type.String(),
    weightKg: Type.Number(),
    reps: Type.Integer()
  })
)

/** Sets are no records any more: their log was deleted or corrected, or there is a better one before them. */
export const RecordsLost = defineEvent(
  'dashboard.records.lost.v1',
  Type.Object({ accountId: Id, records: Type.Array(Type.Object(lift), { minItems: 1 }) })
)

/**
 * The newest weight log of a person changed, in kilograms. `previousAt` is the time of the one before: later than `at` if
 * that was deleted or moved.
 */
export const WeightLogged = defineEvent(
  'dashboard.weight.logged.v1',
  Type.Object({ accountId: Id, kg: Type.Number(), at: Timestamp, previousAt: Nullable(Timestamp) })
)

/** The last weight log of a person was deleted. */
export const WeightUnlogged = defineEvent('dashboard.weight.unlogged.v1', Type.Object({ accountId: Id }))

export const AchievementEarned = defineEvent(
  'dashboard.achievement.earned.v1',
  Type.Object({ accountId: Id, achievement: Type.String(), achievementId: Type.Optional(Id) })
)

/** The log that earned an achievement was deleted within 24 hours. It can be earned again, with another id. */
export const AchievementLost = defineEvent(
  'dashboard.achievement.lost.v1',
  Type.Object({ accountId: Id, achievement: Type.String(), achievementId: Id })
)

/** A running fast reached its goal. It runs on until its owner ends it. */
export const FastFinished = defineEvent(
  'dashboard.fast.finished.v1',
  Type.Object({ accountId: Id, fastId: Id, goalHours: Type.Integer({ minimum: 1 }) })
)

/** A fast whose goal was published has not reached it after all: it was corrected or deleted. */
export const FastCorrected = defineEvent(
  'dashboard.fast.corrected.v1',
  Type.Object({ accountId: Id, fastId: Id })
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

/** A workout of an account as its posts show it; null if the account has none with this id. */
export const WorkoutSnapshot = defineRpc('dashboard.workout.snapshot.v1', {
  request: Type.Object({ accountId: Id, workoutId: Id }),
  response: Nullable(Type.Object({
    id: Id,
    name: Nullable(Type.String()),
    startedAt: Timestamp,
    durationMinutes: Type.Integer(),
    /** How many. */
    exercises: Type.Integer(),
    volumeKg: Type.Number(),
    /** How many. */
    prs: Type.Integer(),
    calories: Nullable(Type.Number())
  }))
})

/** An achievement of an account as its posts show it; null if the account has none with this id. */
export const AchievementSnapshot = defineRpc('dashboard.achievement.snapshot.v1', {
  /** The title is in this language. */
  request: Type.Object({ accountId: Id, achievementId: Id, language: Type.String() }),
  response: Nullable(Type.Object({ id: Id, kind: Type.String(), title: Type.String(), earnedAt: Timestamp }))
})

export const DashboardAccountErased = defineEvent('dashboard.account.erased.v1', Erased)
export const DashboardPersonalData = defineRpc('dashboard.personal-data.v1', personalData)
export const DashboardErasureCheck = defineRpc('dashboard.erasure-check.v1', erasureCheck)
