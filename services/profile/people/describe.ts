import type { Person } from './queries.ts'

/** How a person appears to others; the picture as it is stored. */
export const toPersonCopy = ({ account_id: accountId, name, username, image, bio, locale, timezone }: Person) =>
  ({ accountId, name, username, image, bio, locale, timezone })

/** When a person told their weight; null without one. */
export const weighedAt = ({ weight, weighed_at: at, completed_at: completedAt, created_at: createdAt }: Person) =>
  weight === null ? null : (at ?? completedAt ?? createdAt).toISOString()

/** What others match and compute by. */
export const factsOf = (person: Person) => ({
  gender: person.gender,
  birthDate: person.birth_date,
  height: person.height,
  weight: person.weight,
  weighedAt: weighedAt(person),
  fitnessGoal: person.fitness_goal,
  experience: person.experience,
  motivations: person.motivations,
  favoriteSports: person.favorite_sports,
  activityStyle: person.activity_style,
  preferredAvailability: person.preferred_availability
})

/** The body facts as a person sees his own. */
export const bodyOf = (person: Person) => ({
  gender: person.gender,
  birthDate: person.birth_date === null ? null : `${person.birth_date}T00:00:00.000Z`,
  height: person.height,
  heightUnit: person.height_unit,
  weight: person.weight,
  weightUnit: person.weight_unit,
  fitnessGoal: person.fitness_goal,
  experience: person.experience,
  timezone: person.timezone
})

/** How much is filled in, 0 to 100: ten things of equal weight. */
export function completionOf (person: Person) {
  const things = [
    person.image, person.bio, person.gender, person.birth_date, person.height, person.weight, person.city_id,
    person.motivations.length, person.favorite_sports.length, person.preferred_availability.length
  ]
  return things.filter(Boolean).length * 10
}
