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

/** The figures that achievements depend on. Streaks are the longest of those just changed, in days and in ISO weeks. */
interface Progress {
  workouts: number
  records: number
  level: number
  dayStreak: number
  weekStreak: number
}

const achievements: Record<string, (progress: Progress) => boolean> = {
  FIRST_WORKOUT: ({ workouts }) => workouts >= 1,
  TEN_WORKOUTS: ({ workouts }) => workouts >= 10,
  HUNDRED_WORKOUTS: ({ workouts }) => workouts >= 100,
  STREAK_7: ({ dayStreak }) => dayStreak >= 7,
  STREAK_30: ({ dayStreak }) => dayStreak >= 30,
  STREAK_100: ({ dayStreak }) => dayStreak >= 100,
  WEEK_STREAK_4: ({ weekStreak }) => weekStreak >= 4,
  FIRST_PR: ({ records }) => records >= 1,
  TEN_PRS: ({ records }) => records >= 10,
  LEVEL_10: ({ level }) => level >= 10
}

/** All achievements that this progress qualifies for, including earlier ones. */
export const achievementsOf = (progress: Progress) =>
  Object.keys(achievements).filter((name) => achievements[name]?.(progress))
