import { handleRpc } from '@tandem/bus-kit'
import { MatchFacts, People, PeopleNamed, Person as PersonRpc } from '@tandem/contracts'
import { readTimezone } from '@tandem/account-kit'
import type { Deps } from '../deps.ts'
import { findCity } from '../places/queries.ts'
import { addMissingPeople, findOrAddPerson } from './actions.ts'
import { bodyOf, completionOf, describeCopy, factsOf, weighedAt } from './describe.ts'
import { listPeople, listPeopleByUsername, listPhotoDetails, type Person } from './queries.ts'

export const handlePerson = (deps: Deps) =>
  handleRpc(PersonRpc, async ({ accountId }) => {
    const person = await findOrAddPerson(deps, accountId)
    if (!person) return null
    return {
      name: person.name,
      image: deps.media.urlOf(person.image),
      changedAt: person.changedAt,
      weighedAt: weighedAt(person),
      enteredWeight: person.entered_weight,
      enteredAt: person.entered_at?.toISOString() ?? null,
      completion: completionOf(person),
      profile: {
        ...bodyOf(person),
        workoutFrequency: person.workout_frequency,
        onboardingCompleted: person.current_step === 3,
        onboardingStep: person.current_step,
        username: person.username,
        avatarUrl: deps.media.urlOf(person.image)
      }
    }
  })

export const handlePeople = (deps: Deps) =>
  handleRpc(People, async ({ accountIds }) => {
    const known = toCopies(deps, await listPeople(deps.db, accountIds))
    const unknown = accountIds.filter((accountId) => !known.some((person) => person.accountId === accountId))
    if (unknown.length === 0) return known
    await addMissingPeople(deps, unknown)
    return [...known, ...toCopies(deps, await listPeople(deps.db, unknown))]
  })

export const handlePeopleNamed = (deps: Deps) =>
  handleRpc(PeopleNamed, async ({ usernames }) => toCopies(deps, await listPeopleByUsername(deps.db, usernames)))

export const handleMatchFacts = (deps: Deps) =>
  handleRpc(MatchFacts, async ({ accountId }) => {
    const person = await findOrAddPerson(deps, accountId)
    if (!person) return null
    const city = person.city_id === null ? undefined : await findCity(deps.db, person.city_id)
    return {
      name: person.name,
      bio: person.bio,
      city: city?.name ?? null,
      // The location of the phone if the person shares it, else the center of their city.
      latitude: person.latitude ?? city?.latitude ?? null,
      longitude: person.longitude ?? city?.longitude ?? null,
      timezone: readTimezone(person.timezone),
      photos: person.photos.map((photo) => deps.media.urlOf(photo)),
      photoDetails: (await listPhotoDetails(deps.db, accountId)).map(({ details }) => details),
      changedAt: person.changedAt,
      ...factsOf(person)
    }
  })

const toCopies = ({ media }: Deps, people: Person[]) => people.map((person) => describeCopy(media, person))
