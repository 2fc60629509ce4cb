import { readTimezone } from '@tandem/account-kit'
import { ValidationError } from '@tandem/http-kit'

/** What people agree on. Times are local, such as `18:00`; an end at or before the start is on the next day. */
export interface LocalTimes {
  date: string
  startTime: string
  endTime: string
  timezone: string
}

interface Instants {
  startsAt: Date
  endsAt: Date
}

const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
const MIN_AHEAD_MS = 15 * MINUTE_MS
const MAX_AHEAD_MS = 90 * DAY_MS
const MIN_LENGTH_MS = 15 * MINUTE_MS
const MAX_LENGTH_MS = 12 * HOUR_MS
/** From this long before the start, the time and the place are final. */
export const FINAL_BEFORE_MS = 2 * HOUR_MS

/** The version of the time zone data of this process, such as `2026a`. Newer versions sort later. */
export const TZDATA_VERSION = process.versions.tz ?? ''

/**
 * The instants of local times, by this process's time zone data. A time that a clock change skips is an hour later, and
 * of a time that comes twice the first is meant.
 */
export function instantsOf ({ date, startTime, endTime, timezone }: LocalTimes): Instants {
  const day = Temporal.PlainDate.from(date)
  const [start, end] = [Temporal.PlainTime.from(startTime), Temporal.PlainTime.from(endTime)]
  const from = day.toPlainDateTime(start)
  const until = (Temporal.PlainTime.compare(end, start) > 0 ? day : day.add({ days: 1 })).toPlainDateTime(end)
  const zone = readTimezone(timezone)
  const startsAt = from.toZonedDateTime(zone).epochMilliseconds
  const endsAt = until.toZonedDateTime(zone).epochMilliseconds
  // If the start is in a skipped hour, the end can be at or before it.
  const length = endsAt > startsAt ? endsAt - startsAt : from.until(until).total('milliseconds')
  return { startsAt: new Date(startsAt), endsAt: new Date(startsAt + length) }
}

/** @throws ValidationError for activities that are too short, too long, too soon or too far ahead */
export function checkInstants ({ startsAt, endsAt }: Instants, now: Date) {
  const length = endsAt.getTime() - startsAt.getTime()
  if (length < MIN_LENGTH_MS || length > MAX_LENGTH_MS) {
    throw new ValidationError('activityTakesBetween15MinutesAnd12Hours')
  }
  const ahead = startsAt.getTime() - now.getTime()
  if (ahead < MIN_AHEAD_MS || ahead > MAX_AHEAD_MS) {
    throw new ValidationError('activityStartsBetween15MinutesAnd90Days')
  }
}
