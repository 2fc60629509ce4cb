export interface QuietHours { enabled: boolean, start: string, end: string }

/**
 * When the quiet hours end that `at` lies in, or undefined when it lies in none. They may go across midnight.
 * On a day when clocks change, a time that does not exist is read as the one an hour later.
 */
export function endOfQuiet ({ enabled, start, end }: QuietHours, timezone: string, at: Date): Date | undefined {
  if (!enabled || start === end) return
  const here = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone)
  const time = here.toPlainTime()
  const [from, until] = [Temporal.PlainTime.from(start), Temporal.PlainTime.from(end)]
  const since = Temporal.PlainTime.compare(time, from) >= 0
  const before = Temporal.PlainTime.compare(time, until) < 0
  const acrossMidnight = Temporal.PlainTime.compare(from, until) > 0
  if (acrossMidnight ? !since && !before : !since || !before) return
  const day = acrossMidnight && since ? here.toPlainDate().add({ days: 1 }) : here.toPlainDate()
  return new Date(day.toZonedDateTime({ timeZone: timezone, plainTime: until }).epochMilliseconds)
}
