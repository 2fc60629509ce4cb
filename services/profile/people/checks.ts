import { ValidationError } from '@tandem/service-kit'

const YOUNGEST = 13
const OLDEST = 120

/** The day of `birthDate`. @throws ValidationError unless somebody born on it is 13 to 120 years old on what is today in `timezone` */
export function birthDayOf (birthDate: string, timezone: string) {
  const day = Temporal.PlainDate.from(birthDate.slice(0, 'yyyy-mm-dd'.length))
  const age = day.until(Temporal.Now.plainDateISO(timezone), { largestUnit: 'years' }).years
  if (age < YOUNGEST || age > OLDEST) throw new ValidationError('birthDate must be that of somebody 13 to 120 years old')
  return day.toString()
}

/** A language as the web writes it; phones write `en_GB`. */
export const languageTag = (locale: string) => locale.replaceAll('_', '-')

/** @throws ValidationError unless `timezone` is an IANA name */
export function checkTimezone (timezone: string) {
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    throw new ValidationError('timezone must be an IANA name such as Asia/Jakarta')
  }
  if (/^[+-]/.test(timezone)) throw new ValidationError('timezone must be an IANA name such as Asia/Jakarta')
}
