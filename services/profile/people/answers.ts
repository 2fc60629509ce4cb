import { answer } from '@tandem/bus-kit'
import { MatchFacts, People, PeopleNamed, Person } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { PersonNotFound } from '../errors.ts'
import { findCity } from '../places/queries.ts'
import { touchPerson } from './actions.ts'
import { bodyOf, completionOf, factsOf } from './describe.ts'
import { listPeople, listPeopleNamed } from './queries.ts'

export const answerPerson = (deps: Deps) => answer(Person, async ({ accountId }) => {
  const person = await touchOrNothing(deps, accountId)
  if (!person) return null
  return {
    name: person.name,
    image: person.image,
    completion: completionOf(person),
    profile: {
      ...bodyOf(person),
      onboardingCompleted: person.current_step === 3,
      onboardingStep: person.current_step,
      username: person.username,
      avatarUrl: person.image
    }
  }
})

export const answerPeople = ({ db }: Deps) => answer(People, async ({ accountIds }) => await listPeople(db, accountIds))
export const answerPeopleNamed = ({ db }: Deps) => answer(PeopleNamed, async ({ usernames }) => await listPeopleNamed(db, usernames))

export const answerMatchFacts = (deps: Deps) => answer(MatchFacts, async ({ accountId }) => {
  const person = await touchOrNothing(deps, accountId)
  if (!person) return null
  const city = person.city_id === null ? undefined : await findCity(deps.db, person.city_id)
  return {
    name: person.name,
    bio: person.bio,
    city: city?.name ?? null,
    // Where the phone was, if its owner lets it be known; else the middle of the town.
    latitude: person.latitude ?? city?.latitude ?? null,
    longitude: person.longitude ?? city?.longitude ?? null,
    timezone: person.timezone,
    photos: person.photos,
    ...factsOf(person)
  }
})

async function touchOrNothing ({ db, ask }: Deps, accountId: string) {
  try {
    return await touchPerson(db, ask, accountId)
  } catch (error) {
    if (error instanceof PersonNotFound) return
    throw error
  }
}
