import { Text, ValidationError } from '@tandem/http-kit'

/** An IANA time zone name from a client. Read it with `parseTimezone`. */
export const Timezone = Text({ max: 64, examples: ['Asia/Jakarta'] })

/**
 * @returns the name as IANA spells it: `asia/jakarta` is Asia/Jakarta, and `GMT+07:00`, as Android writes it, Etc/GMT-7
 * @throws ValidationError if it is no such name
 */
export function parseTimezone (timezone: string) {
  const name = findTimezoneName(timezone)
  if (name !== undefined) return name
  throw new ValidationError('timezoneMustBeIANANameSuchAsAsia', ['timezone'])
}

// IANA has names for whole hours, whose sign is that of POSIX: west is positive.
const FIXED_OFFSET = /^(?:GMT|UTC)([+-])0?(\d{1,2})(?::?00)?$/i

// It has none for other offsets, but each of these is the time of one place that never changes its clocks.
const PARTIAL_OFFSETS: Record<string, string> = {
  '+3:30': 'Asia/Tehran',
  '+4:30': 'Asia/Kabul',
  '+5:30': 'Asia/Kolkata',
  '+5:45': 'Asia/Kathmandu',
  '+6:30': 'Asia/Yangon',
  '+8:45': 'Australia/Eucla',
  '+9:30': 'Australia/Darwin',
  '-9:30': 'Pacific/Marquesas'
}
const PARTIAL_OFFSET = /^(?:GMT|UTC)([+-])0?(\d):?(30|45)$/i

/** The name of a time zone as `parseTimezone` returns it; undefined if it is no such name. */
export function findTimezoneName (timezone: string) {
  const [, direction, hour, minutes] = PARTIAL_OFFSET.exec(timezone) ?? []
  if (minutes !== undefined) return PARTIAL_OFFSETS[`${direction}${hour}:${minutes}`]
  const [, sign, hours] = FIXED_OFFSET.exec(timezone) ?? []
  if (hours === undefined) return findCanonicalName(timezone)
  return hours === '0' ? 'UTC' : findCanonicalName(`Etc/GMT${sign === '+' ? '-' : '+'}${hours}`)
}

/** Whether a time zone is an offset such as +09:00. */
export const isOffset = (timezone: string) => /^[+-](?:0\d|1[0-4]):[0-5]\d$/.test(timezone)

/**
 * A time zone that was stored, or that an event carries, as a name to calculate with. One that this process cannot read
 * counts as UTC: other processes have other time zone data, and a value of one person must not fail the work of others.
 * An offset such as +09:00 is one too: of a log that has no other.
 */
export const readTimezone = (timezone: string) => isOffset(timezone) ? timezone : findCanonicalName(timezone) ?? 'UTC'

/** The calendar day of an instant in a time zone. */
export const dayIn = (timezone: string, at: Date) =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(readTimezone(timezone)).toPlainDate()

/** The instant at which a day starts in a time zone. */
export const startOfDay = (timezone: string, day: Temporal.PlainDate) =>
  new Date(day.toZonedDateTime(readTimezone(timezone)).epochMilliseconds)

/** When the calendar day of an instant starts and ends in a time zone. */
export function dayAround (timezone: string, at: Date) {
  const day = dayIn(timezone, at)
  return { startsAt: startOfDay(timezone, day), endsAt: startOfDay(timezone, day.add({ days: 1 })) }
}

/**
 * Asks Temporal, because Temporal calculates with it: Intl knows names such as IST which Temporal refuses. Every name
 * that Temporal knows can be given to Intl.
 */
function findCanonicalName (timezone: string) {
  try {
    const { timeZoneId } = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timezone)
    // Temporal reads offsets and timestamps too, and neither is a name.
    const isName = !/^[+-]/.test(timeZoneId) && timeZoneId.toLowerCase() === timezone.toLowerCase()
    return isName ? timeZoneId : undefined
  } catch {
    return
  }
}
