import { dayIn, startOfDay } from '@tandem/account-kit'

export const dayNames = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
type DayName = typeof dayNames[number]

/** The Monday of the ISO week of a day. */
export const mondayOf = (day: Temporal.PlainDate) => day.subtract({ days: day.dayOfWeek - 1 })

export const dayNameOf = (day: Temporal.PlainDate): DayName => dayNames[day.dayOfWeek - 1] as DayName

/** The short name of the weekday: Sen, Sel, Rab, Kam, Jum, Sab, Min; Mon, Tue, Wed … */
export const shortDayName = (day: Temporal.PlainDate, language: string) =>
  day.toLocaleString(language, { weekday: 'short' })

const MS_PER_DAY = 86_400_000

/** Day arithmetic uses the number of days since 1970-01-01. */
export const dayNumberOf = (day: string) => Date.parse(`${day}T00:00:00Z`) / MS_PER_DAY
export const dayFromNumber = (number: number) => new Date(number * MS_PER_DAY).toISOString().slice(0, 10)

// 1970-01-01 was a Thursday.
export const mondayNumberOf = (number: number) => number - ((number + 3) % 7 + 7) % 7

/** How long it is until the next day starts in a time zone. */
export const millisecondsUntilMidnight = (zone: string, at: Date) =>
  startOfDay(zone, dayIn(zone, at).add({ days: 1 })).getTime() - at.getTime()
