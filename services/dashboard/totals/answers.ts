import { answer } from '@tandem/bus-kit'
import { TrainingTotals } from '@tandem/contracts'

// Nothing can be logged yet, so nobody has any totals.
export const answerTrainingTotals = () => answer(TrainingTotals, async () => ({ totalWorkouts: 0, totalFoodEntries: 0, nutritionGoal: null }))
