import type { Language } from '@tandem/service-kit'

/** Where a person lives of whom nobody has said it. */
export const DEFAULT_ZONE = 'Asia/Jakarta'

export const dayNames = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
type DayName = typeof dayNames[number]

/** The calendar day of a moment in a time zone. */
export function dayIn (zone: string, at: Date): Temporal.PlainDate {
  const instant = Temporal.Instant.fromEpochMilliseconds(at.getTime())
  try {
    return instant.toZonedDateTimeISO(zone).toPlainDate()
  } catch {
    // A zone this machine has not heard of must not keep anybody from logging.
    return instant.toZonedDateTimeISO(DEFAULT_ZONE).toPlainDate()
  }
}

/** The Monday of the ISO week of a day. */
export const mondayOf = (day: Temporal.PlainDate) => day.subtract({ days: day.dayOfWeek - 1 })

export const dayNameOf = (day: Temporal.PlainDate): DayName => dayNames[day.dayOfWeek - 1] as DayName

const shortNames: Record<Language, Intl.DateTimeFormat> = {
  id: new Intl.DateTimeFormat('id-ID', { weekday: 'short', timeZone: 'UTC' }),
  en: new Intl.DateTimeFormat('en-US', { weekday: 'short', timeZone: 'UTC' })
}

/** Its name, short: Sen, Sel, Rab, Kam, Jum, Sab, Min; Mon, Tue, Wed … */
export const shortDayName = (day: Temporal.PlainDate, language: Language) => shortNames[language].format(Date.parse(`${day.toString()}T00:00:00Z`))

const MS_OF_DAY = 86_400_000

/** Days are counted from 1970-01-01 where they are reckoned with. */
export const numberOf = (day: string) => Date.parse(`${day}T00:00:00Z`) / MS_OF_DAY
export const dayOfNumber = (number: number) => new Date(number * MS_OF_DAY).toISOString().slice(0, 10)

// 1970-01-01 was a Thursday.
export const mondayNumber = (number: number) => number - ((number + 3) % 7 + 7) % 7

/** Whole seconds until the next day begins in a time zone; at least one. */
export function secondsOfDayLeft (zone: string, at: Date): number {
  const next = dayIn(zone, at).add({ days: 1 })
  try {
    return Math.max(1, Math.floor((next.toZonedDateTime(zone).epochMilliseconds - at.getTime()) / 1_000))
  } catch {
    return secondsOfDayLeft(DEFAULT_ZONE, at)
  }
}
