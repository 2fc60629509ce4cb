import { ValidationError } from './errors.ts'
import { Text } from './schemas.ts'

/** An IANA time zone name from a client. Check it with `validateTimezone`. */
export const Timezone = Text({ max: 64, examples: ['Asia/Jakarta'] })

/** @throws ValidationError unless `timezone` is an IANA name */
export function validateTimezone (timezone: string) {
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    throw new ValidationError({
      en: 'timezone must be an IANA name such as Asia/Jakarta',
      id: 'timezone harus berupa nama IANA seperti Asia/Jakarta'
    })
  }
  if (/^[+-]/.test(timezone)) {
    throw new ValidationError({
      en: 'timezone must be an IANA name such as Asia/Jakarta',
      id: 'timezone harus berupa nama IANA seperti Asia/Jakarta'
    })
  }
}
