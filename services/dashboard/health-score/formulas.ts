/** Days of a week as far as they have come, summed up. A day without logs is missing. */
export interface Day {
  day: string
  workouts: number
  foodEntries: number
  calories: number
  waterMl: number
  sleepEntries: number
  sleepMinutes: number
  /** The sum over the day's entries, each 1 to 5. */
  sleepQuality: number
}

export interface Targets { dailyCalories: number, waterMl: number, sleepMinutes: number, workoutsPerWeek: number }

export interface Scores { workout: number, nutrition: number, water: number, sleep: number }

export const weights: Record<keyof Scores, number> = { workout: 30, nutrition: 25, water: 20, sleep: 25 }

const THRESHOLD = 5

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
export const mean = (numbers: number[]) => numbers.length === 0 ? 0 : sum(numbers) / numbers.length
const percent = (part: number) => Math.round(part * 100)

/** How long one slept a day, in minutes, and how well, 1 to 5, over the days and entries that there are. */
export function sleepOf (days: Day[]) {
  const slept = days.filter((day) => day.sleepEntries > 0)
  const entries = sum(slept.map((day) => day.sleepEntries))
  return {
    minutes: mean(slept.map((day) => day.sleepMinutes)),
    quality: entries === 0 ? 0 : sum(slept.map((day) => day.sleepQuality)) / entries,
    daysTracked: slept.length
  }
}

/** The scores of a week of which `elapsed` days have come, each 0 to 100. */
export function scoresOf (days: Day[], elapsed: number, targets: Targets): Scores {
  const fed = days.filter((day) => day.foodEntries > 0)
  const { minutes, quality } = sleepOf(days)
  return {
    workout: percent(Math.min(1, sum(days.map((day) => day.workouts)) / targets.workoutsPerWeek)),
    nutrition: percent(mean(fed.map(({ calories }) => Math.max(0, 1 - Math.abs(calories - targets.dailyCalories) / targets.dailyCalories)))),
    water: percent(sum(days.map(({ waterMl }) => Math.min(1, waterMl / targets.waterMl))) / elapsed),
    sleep: percent(0.7 * Math.min(1, minutes / targets.sleepMinutes) + 0.3 * quality / 5)
  }
}

/** The four scores by their weights, 0 to 100. */
export const overallOf = (scores: Scores) =>
  Math.round(sum((Object.keys(weights) as (keyof Scores)[]).map((metric) => scores[metric] * weights[metric])) / 100)

/** Whether it goes up or down: by more than five points, or else neither. */
export function trendOf (score: number, previous: number) {
  if (score - previous > THRESHOLD) return 'up' as const
  return score - previous < -THRESHOLD ? 'down' as const : 'neutral' as const
}
