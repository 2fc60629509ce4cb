import type { CallRpc } from '@tandem/bus-kit'
import { People, PeopleNamed } from '@tandem/contracts'
import { createLookup } from '@tandem/service-kit'
import type { Db } from '../tables.ts'
import { upsertPeople, type PersonCopy } from './copies.ts'

/** Asks the profile service for people whom the copy lacks, and completes it. Who does not exist is left out. @throws Unavailable */
export interface PeopleLookup {
  findById (accountIds: string[]): Promise<PersonCopy[]>
  /** By usernames in lower case. */
  findByUsername (usernames: string[]): Promise<PersonCopy[]>
}

export function createPeopleLookup ({ db, callRpc }: { db: Db, callRpc: CallRpc }): PeopleLookup {
  const complete = async (people: PersonCopy[], keyOf: (person: PersonCopy) => string) => {
    await upsertPeople(db, people)
    return new Map(people.map((person) => [keyOf(person), person]))
  }
  return {
    findById: createLookup(async (accountIds) => await complete(await callRpc(People, { accountIds }), ({ accountId }) => accountId)),
    // A name that nobody has is somebody's a moment later: none is remembered as unknown.
    findByUsername: createLookup(
      async (usernames) => await complete(await callRpc(PeopleNamed, { usernames }), ({ username }) => username.toLowerCase()), { unknownTtlMs: 0 }
    )
  }
}

/** A person as the profile service shows them now; undefined when it is away or does not know them. */
export async function findFresh (callRpc: CallRpc, accountId: string): Promise<PersonCopy | undefined> {
  const people = await callRpc(People, { accountIds: [accountId] }).catch(() => [])
  return people[0]
}
