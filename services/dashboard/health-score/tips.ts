import type { Language } from '@tandem/service-kit'
import { mean, sleepOf, weights, type Day, type Scores, type Targets } from './formulas.ts'
import { texts } from './texts.ts'

const WELL_DONE = 80

interface Week { days: Day[], targets: Targets }

/** The metric with the lowest score; of several that of the greatest weight, in the order of the contract. */
export function weakestOf (scores: Scores): keyof Scores {
  const metrics = Object.keys(weights) as (keyof Scores)[]
  return metrics.reduce((weakest, metric) => {
    const difference = scores[metric] - scores[weakest] || weights[weakest] - weights[metric]
    return difference < 0 ? metric : weakest
  })
}

/** What to do about the weakest metric; praise when even that one is well. */
export function tipsFor (scores: Scores, { days, targets }: Week, language: Language): string[] {
  const weakest = weakestOf(scores)
  const say = texts[language]
  if (scores[weakest] >= WELL_DONE) return say.praise
  switch (weakest) {
    case 'workout': return days.some((day) => day.workouts > 0) ? say.moreWorkouts(targets) : say.firstWorkout(targets)
    case 'water': return days.some((day) => day.waterMl > 0) ? say.littleWater(targets) : say.noWater(targets)
    case 'nutrition': {
      const fed = days.filter((day) => day.foodEntries > 0)
      if (fed.length === 0) return say.noFood
      return mean(fed.map((day) => day.calories)) > targets.dailyCalories ? say.muchFood : say.littleFood
    }
    case 'sleep': {
      const { minutes, daysTracked } = sleepOf(days)
      if (daysTracked === 0) return say.noSleep
      return minutes < targets.sleepMinutes ? say.littleSleep : say.poorSleep
    }
  }
}
