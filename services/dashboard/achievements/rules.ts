/** The figures that achievements depend on. Streaks are in days and in ISO weeks. */
export interface Figures {
  workouts: number
  records: number
  level: number
  dayStreak: number
  weekStreak: number
  /** Of the program that is furthest: how many percent of its training days were logged. */
  programPercent: number
  /** Activities with others that the person was at. */
  activities: number
}

/** The figure that earns each achievement, and from which value on. In the order in which they are listed. */
const thresholds = {
  FIRST_WORKOUT: ['workouts', 1],
  TEN_WORKOUTS: ['workouts', 10],
  FIFTY_WORKOUTS: ['workouts', 50],
  HUNDRED_WORKOUTS: ['workouts', 100],
  FIVE_HUNDRED_WORKOUTS: ['workouts', 500],
  STREAK_7: ['dayStreak', 7],
  STREAK_30: ['dayStreak', 30],
  STREAK_100: ['dayStreak', 100],
  STREAK_365: ['dayStreak', 365],
  WEEK_STREAK_4: ['weekStreak', 4],
  FIRST_PR: ['records', 1],
  TEN_PRS: ['records', 10],
  LEVEL_5: ['level', 5],
  LEVEL_10: ['level', 10],
  LEVEL_25: ['level', 25],
  FIRST_PROGRAM: ['programPercent', 100],
  FIVE_ACTIVITIES: ['activities', 5]
} as const satisfies Record<string, [keyof Figures, number]>

export type Kind = keyof typeof thresholds
export const kinds = Object.keys(thresholds) as Kind[]

/** The kinds that these figures qualify for, including earlier ones. A figure that is left out qualifies for none. */
export const achievementsOf = (figures: Partial<Figures>) =>
  kinds.filter((kind) => {
    const [figure, threshold] = thresholds[kind]
    return (figures[figure] ?? 0) >= threshold
  })

/** How much of an achievement is done, in percent; 100 only once it is earned. */
export function progressOf (kind: Kind, figures: Figures) {
  const [figure, threshold] = thresholds[kind]
  return Math.min(100, Math.floor(figures[figure] / threshold * 100))
}

/** What an app draws for a kind. */
export const iconOf = (kind: Kind) => icons[thresholds[kind][0]]

export const icons = {
  workouts: 'workout',
  dayStreak: 'streak',
  weekStreak: 'streak',
  records: 'record',
  level: 'level',
  programPercent: 'program',
  activities: 'people'
} as const satisfies Record<keyof Figures, string>
