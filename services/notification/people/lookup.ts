import type { CallRpc } from '@tandem/bus-kit'
import { People } from '@tandem/contracts'
import { createLookup } from '@tandem/process-kit'
import { upsertPeople, type CopyDeps, type PersonCopy } from './copies.ts'

/**
 * Fetches people from the profile service and stores copies of them. Accounts that do not exist are left out.
 * @throws Unavailable
 */
export type FindPeople = (accountIds: string[]) => Promise<PersonCopy[]>

export const createPeopleLookup = ({ callRpc, ...deps }: CopyDeps & { callRpc: CallRpc }): FindPeople =>
  createLookup(async (accountIds) => {
    const people = await callRpc(People, { accountIds })
    await upsertPeople(deps, people)
    return new Map(people.map((person) => [person.accountId, person]))
  })
