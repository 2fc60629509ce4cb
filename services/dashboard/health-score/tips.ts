import { mean, sleepAveragesOf, scoreWeights, type DaySummary, type Scores, type Targets } from './formulas.ts'
import { textsOf, type TextKey } from '@tandem/brand-kit'

const PRAISE_THRESHOLD = 80

interface Week {
  days: DaySummary[]
  targets: Targets
}

/** The metric with the lowest score. Ties go to the greater weight, then to the order of the contract. */
export function weakestOf (scores: Scores): keyof Scores {
  const metrics = Object.keys(scoreWeights) as (keyof Scores)[]
  return metrics.reduce((weakest, metric) => {
    const difference = scores[metric] - scores[weakest] || scoreWeights[weakest] - scoreWeights[metric]
    return difference < 0 ? metric : weakest
  })
}

type Tips = TextKey extends infer Key ? Key extends `healthScore.tips.${infer Name}` ? Name : never : never

/** Tips for the weakest metric, or praise if even that score is high. */
export function tipsFor (scores: Scores, week: Week, language: string): string[] {
  const { workoutsPerWeek, waterMl } = week.targets
  return textsOf(language).format(`healthScore.tips.${chooseTips(scores, week)}`, { workoutsPerWeek, waterMl })
    .split('\n')
}

function chooseTips (scores: Scores, { days, targets }: Week): Tips {
  const weakest = weakestOf(scores)
  if (scores[weakest] >= PRAISE_THRESHOLD) return 'praise'
  switch (weakest) {
    case 'workout':
      return days.some((day) => day.workouts > 0) ? 'moreWorkouts' : 'firstWorkout'
    case 'water':
      return days.some((day) => day.waterMl > 0) ? 'tooLittleWater' : 'noWater'
    case 'nutrition': {
      const daysWithFood = days.filter((day) => day.foodEntries > 0)
      if (daysWithFood.length === 0) return 'noFood'
      return mean(daysWithFood.map((day) => day.calories)) > targets.dailyCalories ? 'tooMuchFood' : 'tooLittleFood'
    }
    case 'sleep': {
      const { minutes, daysTracked } = sleepAveragesOf(days)
      if (daysTracked === 0) return 'noSleep'
      return minutes < targets.sleepMinutes ? 'tooLittleSleep' : 'poorSleep'
    }
  }
}
