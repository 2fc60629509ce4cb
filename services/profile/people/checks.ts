import { dayIn } from '@tandem/account-kit'
import { ValidationError } from '@tandem/http-kit'

const MIN_AGE = 13
const MAX_AGE = 120

/** The day of `birthDate`. @throws ValidationError unless the age is 13 to 120 on the current day in `timezone` */
export function parseBirthDate (birthDate: string, timezone: string) {
  const day = Temporal.PlainDate.from(birthDate.slice(0, 'yyyy-mm-dd'.length))
  const age = day.until(dayIn(timezone, new Date()), { largestUnit: 'years' }).years
  if (age < MIN_AGE || age > MAX_AGE) {
    throw new ValidationError('birthDateMustGiveAgeOf13To120', ['birthDate'])
  }
  return day.toString()
}
