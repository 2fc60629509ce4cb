import { sumOf } from '../log-types/data.ts'

/** The summary of one day. Days without logs have none. */
export interface DaySummary {
  day: string
  workouts: number
  foodEntries: number
  calories: number
  waterMl: number
  sleepEntries: number
  sleepMinutes: number
  /** The sum over the day's entries that have a quality, each 1 to 5. */
  sleepQuality: number
  /** How many these are. */
  sleepRatings: number
}

export interface Targets {
  dailyCalories: number
  waterMl: number
  sleepMinutes: number
  workoutsPerWeek: number
}

export interface Scores {
  workout: number
  nutrition: number
  water: number
  sleep: number
}

export const scoreWeights: Record<keyof Scores, number> = { workout: 30, nutrition: 25, water: 20, sleep: 25 }

const TREND_THRESHOLD = 5

export const mean = (numbers: number[]) => numbers.length === 0 ? 0 : sumOf(numbers) / numbers.length
const percent = (part: number) => Math.round(part * 100)

/** The mean minutes of sleep over the days with sleep, and the mean quality (1 to 5) of those that have one. */
export function sleepAveragesOf (days: DaySummary[]) {
  const daysWithSleep = days.filter((day) => day.sleepEntries > 0)
  const ratings = sumOf(daysWithSleep.map((day) => day.sleepRatings))
  return {
    minutes: mean(daysWithSleep.map((day) => day.sleepMinutes)),
    quality: ratings === 0 ? 0 : sumOf(daysWithSleep.map((day) => day.sleepQuality)) / ratings,
    daysTracked: daysWithSleep.length
  }
}

interface Week {
  /** The last day of the week that has started. */
  lastDay: Temporal.PlainDate
  /** The targets that held on a day. */
  targetsOn: (day: string) => Targets
}

/**
 * The scores of a week, each 0 to 100, by the targets of each day; those of workouts are the ones of the last day. Of
 * nutrition only the days with food count. Of sleep, the minutes are 70 % and the quality is 30 %, or the minutes are all
 * if no sleep has a quality.
 */
export function scoresOf (days: DaySummary[], { lastDay, targetsOn }: Week): Scores {
  const daysWithFood = days.filter((day) => day.foodEntries > 0)
  const daysWithSleep = days.filter((day) => day.sleepEntries > 0)
  const { minutes, quality } = sleepAveragesOf(days)
  const sleepTarget = mean(daysWithSleep.map(({ day }) => targetsOn(day).sleepMinutes))
  return {
    workout: percent(
      Math.min(1, sumOf(days.map((day) => day.workouts)) / targetsOn(lastDay.toString()).workoutsPerWeek)
    ),
    nutrition: percent(
      mean(
        daysWithFood.map(({ day, calories }) => {
          const { dailyCalories } = targetsOn(day)
          return Math.max(0, 1 - Math.abs(calories - dailyCalories) / dailyCalories)
        })
      )
    ),
    water: percent(
      sumOf(days.map(({ day, waterMl }) => Math.min(1, waterMl / targetsOn(day).waterMl))) / lastDay.dayOfWeek
    ),
    sleep: percent(sleepTarget === 0 ? 0 : sleepScore(Math.min(1, minutes / sleepTarget), quality))
  }
}

const sleepScore = (length: number, quality: number) => quality === 0 ? length : 0.7 * length + 0.3 * quality / 5

/** The weighted sum of the four scores, 0 to 100. */
export const overallOf = (scores: Scores) =>
  Math.round(
    sumOf((Object.keys(scoreWeights) as (keyof Scores)[]).map((metric) => scores[metric] * scoreWeights[metric])) / 100
  )

/** The trend: up or down by more than five points, otherwise neutral. */
export function trendOf (score: number, previous: number) {
  if (score - previous > TREND_THRESHOLD) return 'up' as const
  return score - previous < -TREND_THRESHOLD ? 'down' as const : 'neutral' as const
}
