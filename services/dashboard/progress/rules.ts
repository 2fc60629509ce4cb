/** The XP of each log, and how many per day count. Weight logs have none. */
export const XP = {
  workout: 50,
  minute: 1,
  maxMinutesPerWorkout: 60,
  food: 5,
  maxFoodsPerDay: 6,
  water: 2,
  maxWatersPerDay: 8,
  sleep: 10,
  maxSleepsPerDay: 1,
  record: 25
} as const

/** What the XP of a day depends on. */
interface DayOfLogs {
  workouts: number
  /** The minutes of its workouts, of each at most `XP.maxMinutesPerWorkout`. */
  minutesWithXp: number
  foodEntries: number
  waterEntries: number
  sleepEntries: number
  records: number
}

/** The XP of a day. */
export const xpOf = (day: DayOfLogs) =>
  day.workouts * XP.workout +
  day.minutesWithXp * XP.minute +
  Math.min(day.foodEntries, XP.maxFoodsPerDay) * XP.food +
  Math.min(day.waterEntries, XP.maxWatersPerDay) * XP.water +
  Math.min(day.sleepEntries, XP.maxSleepsPerDay) * XP.sleep +
  day.records * XP.record

/** The XP of a workout with so many records. */
export const xpOfWorkout = ({ durationMinutes }: { durationMinutes?: unknown }, records: number) =>
  XP.workout + Math.min(Number(durationMinutes), XP.maxMinutesPerWorkout) * XP.minute + records * XP.record

/** The XP at which a level starts. */
export const xpForLevel = (level: number) => 50 * level * (level - 1)

/** The level at `xp`: the greatest n with 50·n·(n-1) <= xp. */
export function levelOf (xp: number): number {
  const level = Math.floor((1 + Math.sqrt(1 + xp * 4 / 50)) / 2)
  // The square root can be off by rounding exactly where a level starts.
  if (xpForLevel(level + 1) <= xp) return level + 1
  return xpForLevel(level) > xp ? level - 1 : level
}

/** The XP missing to the next level. */
export const xpToNextLevel = (xp: number) => xpForLevel(levelOf(xp) + 1) - xp
