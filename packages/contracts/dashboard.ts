import Type from 'typebox'
import { defineQuestion } from './definitions.ts'
import { Id, Nullable } from './schemas.ts'

/** What /auth/me shows of a person's training. */
export const TrainingTotals = defineQuestion('dashboard.totals.v1', {
  request: Type.Object({ accountId: Id }),
  answer: Type.Object({
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
