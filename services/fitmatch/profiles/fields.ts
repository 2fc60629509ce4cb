import { randomUUID } from 'node:crypto'
import { ValidationError } from '@tandem/http-kit'
import { AgeRestricted } from '../errors.ts'
import { checkPosition, roundToGrid } from '../position.ts'
import type { ProfileFields } from './schemas.ts'

export interface Position {
  latitude?: number
  longitude?: number
}

const unique = <Value>(values: Value[]) => [...new Set(values)]
const orNull = (text: string) => text === '' ? null : text

/** The fields that were sent, as columns. Omitted fields are left out. */
export function toColumns ({ latitude, longitude, ...fields }: ProfileFields & Position) {
  checkPosition({ latitude, longitude })
  return {
    ...(fields.displayName !== undefined && { display_name: fields.displayName, has_custom_name: true }),
    ...(fields.birthDate !== undefined && { birth_date: fields.birthDate, has_custom_birth_date: true }),
    ...(fields.gender !== undefined && { gender: fields.gender }),
    ...(fields.bio !== undefined && { bio: orNull(fields.bio) }),
    ...(fields.height !== undefined && { height: Math.round(fields.height) }),
    ...(fields.lookingFor !== undefined && { looking_for: unique(fields.lookingFor) }),
    ...(fields.interestedIn !== undefined && { interested_in: unique(fields.interestedIn) }),
    ...(fields.ageMin !== undefined && { age_min: fields.ageMin }),
    ...(fields.ageMax !== undefined && { age_max: fields.ageMax }),
    ...(fields.maxDistance !== undefined && { max_distance: Math.round(fields.maxDistance) }),
    ...(fields.fitnessGoals !== undefined && { fitness_goals: unique(fields.fitnessGoals) }),
    ...(fields.preferredTimes !== undefined && { preferred_times: toTimes(fields.preferredTimes) }),
    ...(fields.workoutDays !== undefined && { workout_days: unique(fields.workoutDays) as string[] }),
    ...(fields.city !== undefined && { city: orNull(fields.city) }),
    ...(fields.district !== undefined && { district: orNull(fields.district) }),
    ...(fields.prompts !== undefined &&
      {
        prompts: JSON.stringify(fields.prompts.map(({ question, answer }) => ({ id: randomUUID(), question, answer })))
      }),
    ...(latitude !== undefined && longitude !== undefined &&
      { latitude: roundToGrid(latitude), longitude: roundToGrid(longitude) })
  }
}

export const toTimes = (times: string[]) => unique(times.map((time) => time.toUpperCase()))

/** @throws AgeRestricted, or ValidationError for a date in the future or more than 120 years ago */
export function checkAge (birthDate: string | null, minAge: number) {
  if (birthDate === null) return
  const today = Temporal.Now.plainDateISO('UTC')
  const age = Temporal.PlainDate.from(birthDate).until(today, { largestUnit: 'years' }).years
  if (Temporal.PlainDate.compare(birthDate, today) > 0 || age > 120) {
    throw new ValidationError('birthDateMustNotBeInFutureOrMore', ['birthDate'])
  }
  if (age < minAge) throw new AgeRestricted({ minAge })
}

/** @throws ValidationError */
export function checkAgeRange (
  { age_min: ageMin, age_max: ageMax }: { age_min: number, age_max: number },
  minAge: number
) {
  if (ageMin < minAge) {
    throw new ValidationError('ageMinMustBeAtLeastMinAge', ['ageMin'], { minAge })
  }
  if (ageMin > ageMax) {
    throw new ValidationError('ageMinMustNotBeGreaterThanAgeMax', ['ageMin', 'ageMax'])
  }
}
