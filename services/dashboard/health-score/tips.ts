import type { Language } from '@tandem/http-kit'
import { mean, sleepAveragesOf, scoreWeights, type DaySummary, type Scores, type Targets } from './formulas.ts'
import { texts } from './texts.ts'

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

/** Tips for the weakest metric, or praise if even that score is high. */
export function tipsFor (scores: Scores, { days, targets }: Week, language: Language): string[] {
  const weakest = weakestOf(scores)
  const messages = texts[language]
  if (scores[weakest] >= PRAISE_THRESHOLD) return messages.praise
  switch (weakest) {
    case 'workout':
      return days.some((day) => day.workouts > 0) ? messages.moreWorkouts(targets) : messages.firstWorkout(targets)
    case 'water':
      return days.some((day) => day.waterMl > 0) ? messages.tooLittleWater(targets) : messages.noWater(targets)
    case 'nutrition': {
      const daysWithFood = days.filter((day) => day.foodEntries > 0)
      if (daysWithFood.length === 0) return messages.noFood
      return mean(daysWithFood.map((day) => day.calories)) > targets.dailyCalories
        ? messages.tooMuchFood
        : messages.tooLittleFood
    }
    case 'sleep': {
      const { minutes, daysTracked } = sleepAveragesOf(days)
      if (daysTracked === 0) return messages.noSleep
      return minutes < targets.sleepMinutes ? messages.tooLittleSleep : messages.poorSleep
    }
  }
}
