import type Type from 'typebox'
import type { Ask } from '@tandem/bus-kit'
import { People, PeopleNamed } from '@tandem/contracts'

export type PersonCopy = Type.Static<typeof People.answer>[number]

const AT_ONCE = 100

/** Asks the profile service how people appear; unknown ids are left out. */
export async function askPeople (ask: Ask, accountIds: string[]): Promise<PersonCopy[]> {
  const people: PersonCopy[] = []
  for (let from = 0; from < accountIds.length; from += AT_ONCE) {
    people.push(...await ask(People, { accountIds: accountIds.slice(from, from + AT_ONCE) }))
  }
  return people
}

// What waits for it is somebody's post, which is worth more than a notice.
const SHORTLY = 300

/** Asks the profile service who has these usernames; nobody, when it does not answer shortly. */
export const askPeopleNamed = async (ask: Ask, usernames: string[]): Promise<PersonCopy[]> =>
  await ask(PeopleNamed, { usernames }, { deadline: SHORTLY }).catch(() => [])

/** A person as the profile service shows him now; undefined when it is away or does not know him. */
export async function findFresh (ask: Ask, accountId: string): Promise<PersonCopy | undefined> {
  const people = await askPeople(ask, [accountId]).catch(() => [])
  return people[0]
}
