import { ValidationError } from '@tandem/service-kit'

const YOUNGEST = 13
const OLDEST = 120

/** @throws ValidationError unless somebody born on `birthDate` is 13 to 120 today */
export function checkAge (birthDate: string) {
  const age = Temporal.PlainDate.from(birthDate).until(Temporal.Now.plainDateISO('UTC'), { largestUnit: 'years' }).years
  if (age < YOUNGEST || age > OLDEST) throw new ValidationError('birthDate must be that of somebody 13 to 120 years old')
}

/** @throws ValidationError unless `timezone` is an IANA name */
export function checkTimezone (timezone: string) {
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    throw new ValidationError('timezone must be an IANA name such as Asia/Jakarta')
  }
  if (/^[+-]/.test(timezone)) throw new ValidationError('timezone must be an IANA name such as Asia/Jakarta')
}
