import { dayIn, startOfDay } from '@tandem/account-kit'

export const dayNames = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const

/** The Monday of the ISO week of a day. */
export const mondayOf = (day: Temporal.PlainDate) => day.subtract({ days: day.dayOfWeek - 1 })

/** @param dayOfWeek from 1, which is Monday */
export const dayNameOf = (dayOfWeek: number) => dayNames[dayOfWeek - 1] as typeof dayNames[number]

/** The age in full years on a day. @param birthDate a day, with or without a time behind it */
export const ageOn = (today: Temporal.PlainDate, birthDate: string) =>
  Temporal.PlainDate.from(birthDate.slice(0, 10)).until(today, { largestUnit: 'years' }).years

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
