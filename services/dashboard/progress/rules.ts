/** How much experience a thing is worth, and how often a day it is worth something. */
export const XP = {
  workout: 50,
  minute: 1,
  minutesOfWorkout: 60,
  food: 5,
  foodsOfDay: 6,
  water: 2,
  watersOfDay: 8,
  sleep: 10,
  sleepsOfDay: 1,
  record: 25
} as const

/** The XP at which a level begins. */
export const levelBegins = (level: number) => 50 * level * (level - 1)

/** The highest level whose beginning was reached: the greatest n with 50·n·(n-1) <= xp. */
export function levelOf (xp: number): number {
  const level = Math.floor((1 + Math.sqrt(1 + xp * 4 / 50)) / 2)
  // The root may be off by its last digit just where a level begins.
  if (levelBegins(level + 1) <= xp) return level + 1
  return levelBegins(level) > xp ? level - 1 : level
}

/** What is missing to the next level. */
export const xpToNextLevel = (xp: number) => levelBegins(levelOf(xp) + 1) - xp

/** What achievements are given for. Streaks are those just changed, in days and in ISO weeks. */
interface Progress { workouts: number, records: number, level: number, dayStreak: number, weekStreak: number }

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

/** The achievements that somebody of this progress has earned, or has earned already. */
export const achievementsOf = (progress: Progress) => Object.keys(achievements).filter((name) => achievements[name]?.(progress))
