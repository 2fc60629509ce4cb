import { readTimezone } from '@tandem/account-kit'

export interface QuietHours {
  enabled: boolean
  start: string
  end: string
}

/**
 * Returns when the quiet hours that contain `at` end, or undefined outside quiet hours. Quiet hours can span midnight.
 * A local time that a clock change skips is read as one hour later, and one that it repeats as the next of both.
 */
export function quietHoursEnd ({ enabled, start, end }: QuietHours, timezone: string, at: Date): Date | undefined {
  if (!enabled || start === end) return
  const local = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(readTimezone(timezone))
  const time = local.toPlainTime()
  const [from, until] = [Temporal.PlainTime.from(start), Temporal.PlainTime.from(end)]
  const isAfterStart = Temporal.PlainTime.compare(time, from) >= 0
  const isBeforeEnd = Temporal.PlainTime.compare(time, until) < 0
  const spansMidnight = Temporal.PlainTime.compare(from, until) > 0
  if (spansMidnight ? !isAfterStart && !isBeforeEnd : !isAfterStart || !isBeforeEnd) return
  const endDate = spansMidnight && isAfterStart ? local.toPlainDate().add({ days: 1 }) : local.toPlainDate()
  const first = endDate.toZonedDateTime({ timeZone: local.timeZoneId, plainTime: until })
  const last = first.toPlainDateTime().toZonedDateTime(local.timeZoneId, { disambiguation: 'later' })
  return new Date(first.epochMilliseconds > at.getTime() ? first.epochMilliseconds : last.epochMilliseconds)
}
