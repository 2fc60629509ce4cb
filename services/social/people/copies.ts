import type Type from 'typebox'
import type { People } from '@tandem/contracts'
import { upsertVersioned } from '@tandem/database-kit'
import type { Db } from '../tables.ts'
import { normalizeName } from './names.ts'

export type PersonCopy = Type.Static<typeof People.response>[number]

/**
 * Writes people to the local copy, except over newer data.
 * @param at when the data changed, for people without `changedAt`
 */
export async function upsertPeople (db: Db, people: PersonCopy[], at = new Date(0)) {
  await upsertVersioned(
    db,
    'people',
    people.map(({ accountId, name, username, image, bio, locale, timezone, changedAt }) => ({
      account_id: accountId,
      name,
      username: username.toLowerCase(),
      image,
      bio,
      locale,
      timezone,
      search_name: normalizeName(name),
      changed_at: changedAt ?? at
    })),
    { key: 'account_id' }
  )
}
