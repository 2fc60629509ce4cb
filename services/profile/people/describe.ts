import { readTimezone } from '@tandem/account-kit'
import type { Media } from '@tandem/media-kit'
import type { Person } from './queries.ts'

/** The fields of a person that other services copy, with the picture as it is stored. */
export const toPersonCopy = (
  {
    account_id: accountId,
    name,
    username,
    image,
    imageDetails,
    bio,
    locale,
    timezone,
    push_notifications: pushNotifications
  }: Person
) => ({
  accountId,
  name,
  username,
  image,
  imageDetails,
  bio,
  locale,
  timezone: readTimezone(timezone),
  pushNotifications
})

/** The copy of a person in another service, with its version. */
export const describeCopy = (media: Media, person: Person) => ({
  ...toPersonCopy(person),
  image: media.urlOf(person.image),
  changedAt: person.changedAt
})

/** When the weight of a person was logged or entered; null without one. */
export const weighedAt = ({ weight, weighed_at: at, completed_at: completedAt, created_at: createdAt }: Person) =>
  weight === null ? null : (at ?? completedAt ?? createdAt).toISOString()

/** The facts that other services match and calculate with. */
export const factsOf = (person: Person) => ({
  gender: person.gender,
  birthDate: person.birth_date,
  height: person.height,
  weight: person.weight,
  weighedAt: weighedAt(person),
  enteredWeight: person.entered_weight,
  enteredAt: person.entered_at?.toISOString() ?? null,
  fitnessGoal: person.fitness_goal,
  experience: person.experience,
  motivations: person.motivations,
  favoriteSports: person.favorite_sports,
  activityStyle: person.activity_style,
  preferredAvailability: person.preferred_availability,
  preferredWorkoutTime: person.preferred_workout_time,
  workoutFrequency: person.workout_frequency
})

/** The body facts in the person's own profile. */
export const bodyOf = (person: Person) => ({
  gender: person.gender,
  birthDate: person.birth_date === null ? null : `${person.birth_date}T00:00:00.000Z`,
  height: person.height,
  heightUnit: person.height_unit,
  weight: person.weight,
  weightUnit: person.weight_unit,
  fitnessGoal: person.fitness_goal,
  experience: person.experience,
  timezone: readTimezone(person.timezone)
})

/** How complete a profile is, 0 to 100: ten fields of equal weight. */
export function completionOf (person: Person) {
  const fields = [
    person.image,
    person.bio,
    person.gender,
    person.birth_date,
    person.height,
    person.weight,
    person.city_id,
    person.motivations.length,
    person.favorite_sports.length,
    person.preferred_availability.length
  ]
  return fields.filter(Boolean).length * 10
}
