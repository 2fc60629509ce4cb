import { sql } from 'kysely'
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

interface PeopleDeps extends CopyDeps {
  findPeople: FindPeople
}

/** The rows, each with its person as `user`: under the name of the account, not that of the FitMatch profile. */
export async function withUsers<Row extends { userId: string }> ({ db, media, findPeople }: PeopleDeps, rows: Row[]) {
  const ids = rows.map(({ userId }) => userId)
  const known = await db.selectFrom('people').where('account_id', '=', sql<string>`any(${ids}::uuid[])`)
    .select(['account_id as accountId', 'name', 'image']).execute()
  const missing = ids.filter((id) => !known.some(({ accountId }) => accountId === id))
  // While profile is unavailable they are shown as unknown, and the next response fetches them again.
  const people = [...known, ...await findPeople(missing).catch(() => [])]
  return rows.map(({ userId, ...row }) => {
    const { name = 'Someone', image = null } = people.find(({ accountId }) => accountId === userId) ?? {}
    return { ...row, user: { id: userId, name, image: media.urlOf(image) } }
  })
}
