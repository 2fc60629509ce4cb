import type { CallRpc } from '@tandem/bus-kit'
import { People, PeopleNamed } from '@tandem/contracts'
import { createLookup } from '@tandem/process-kit'
import { upsertPeople, type CopyDeps, type PersonCopy } from './copies.ts'

/**
 * Fetches people from the profile service and adds them to the local copy. People who do not exist are left out.
 * @throws Unavailable
 */
export interface PeopleLookup {
  findById(accountIds: string[]): Promise<PersonCopy[]>
  /** @param usernames in lower case */
  findByUsername(usernames: string[]): Promise<PersonCopy[]>
}

export function createPeopleLookup ({ callRpc, ...deps }: CopyDeps & { callRpc: CallRpc }): PeopleLookup {
  const storePeople = async (people: PersonCopy[], keyOf: (person: PersonCopy) => string) => {
    await upsertPeople(deps, people)
    return new Map(people.map((person) => [keyOf(person), person]))
  }
  return {
    findById: createLookup(async (accountIds) =>
      await storePeople(await callRpc(People, { accountIds }), ({ accountId }) => accountId)
    ),
    // A free username can be taken a moment later, so unknown usernames are not cached.
    findByUsername: createLookup(
      async (usernames) =>
        await storePeople(await callRpc(PeopleNamed, { usernames }), ({ username }) => username.toLowerCase()),
      { unknownTtlMs: 0 }
    )
  }
}

/** A person's current data from the profile service; undefined if it is unavailable or does not know them. */
export async function fetchCurrentPerson (callRpc: CallRpc, accountId: string): Promise<PersonCopy | undefined> {
  const people = await callRpc(People, { accountIds: [accountId] }).catch(() => [])
  return people[0]
}
