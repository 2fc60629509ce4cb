import { readLocale } from '@tandem/brand-kit'
import { sql } from 'kysely'
import Type from 'typebox'
import { dayIn, findOwnNameError, parseTimezone, Timezone, validateName } from '@tandem/account-kit'
import { ValidationError } from '@tandem/http-kit'
import type { Person } from './queries.ts'
import { Bio, BirthDate, GenderField, Height, HeightUnit, Locale, Name, Weight, WeightUnit } from './schemas.ts'

/** What both onboarding and the settings change of a person. */
export const personFields = {
  name: Type.Optional(Name),
  bio: Type.Optional(Bio),
  gender: Type.Optional(GenderField),
  birthDate: Type.Optional(BirthDate),
  height: Type.Optional(Height),
  heightUnit: Type.Optional(HeightUnit),
  weight: Type.Optional(Weight),
  weightUnit: Type.Optional(WeightUnit),
  locale: Type.Optional(Locale),
  timezone: Type.Optional(Timezone)
}

/** The columns of these fields; omitted fields stay the same. @throws ValidationError */
export function personColumnsOf (person: Person, fields: Type.Static<Type.TObject<typeof personFields>>) {
  const { name, bio, gender, birthDate, height, heightUnit, weight, weightUnit } = fields
  validateName('name', name, person.name, findOwnNameError)
  const timezone = fields.timezone && parseTimezone(fields.timezone)
  const locale = fields.locale && readLocale(fields.locale)
  return {
    ...(name !== undefined && { name }),
    ...(bio !== undefined && { bio: bio || null }),
    ...(gender && { gender }),
    ...(birthDate && { birth_date: parseBirthDate(birthDate, timezone ?? person.timezone) }),
    ...(height !== undefined && { height }),
    ...(heightUnit && { height_unit: heightUnit }),
    ...(weight !== undefined && weightColumns(person, weight)),
    ...(weightUnit && { weight_unit: weightUnit }),
    ...(locale && { locale }),
    ...(timezone && { timezone, timezone_chosen: true })
  }
}

function weightColumns (person: Person, weight: number) {
  // Clients often send back what they received: only a different weight is an entry.
  if (weight === person.weight) return {}
  const at = sql<Date>`now()`
  return { weight, weighed_at: at, entered_weight: weight, entered_at: at }
}

const MIN_AGE = 13
const MAX_AGE = 120

/** The day of `birthDate`. @throws ValidationError unless the age is 13 to 120 on the current day in `timezone` */
function parseBirthDate (birthDate: string, timezone: string) {
  const day = Temporal.PlainDate.from(birthDate.slice(0, 'yyyy-mm-dd'.length))
  const age = day.until(dayIn(timezone, new Date()), { largestUnit: 'years' }).years
  if (age < MIN_AGE || age > MAX_AGE) throw new ValidationError('birthDateMustGiveAgeOf13To120', ['birthDate'])
  return day.toString()
}
