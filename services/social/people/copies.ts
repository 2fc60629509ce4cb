import { sql } from 'kysely'
import type Type from 'typebox'
import type { People } from '@tandem/contracts'
import type { Db } from '../tables.ts'
import { normalizeName } from './names.ts'

export type PersonCopy = Type.Static<typeof People.response>[number]

/**
 * Writes people to the local copy, except over newer data.
 * @param at when the data changed, for people without `changedAt`
 */
export async function upsertPeople (db: Db, people: PersonCopy[], at = new Date(0)) {
  if (people.length === 0) return
  // In a fixed order, so that two concurrent writes of many people cannot deadlock.
  const sorted = people.toSorted((one, other) => one.accountId < other.accountId ? -1 : 1)
  await db.insertInto('people')
    .values(sorted.map(({ accountId, name, username, image, bio, locale, timezone, changedAt }) => ({
      account_id: accountId,
      name,
      username: username.toLowerCase(),
      image,
      bio,
      locale,
      timezone,
      search_name: normalizeName(name),
      changed_at: sql<Date>`${changedAt ?? at}::timestamptz`
    })))
    .onConflict((conflict) =>
      conflict.column('account_id')
        .doUpdateSet((row) => ({
          name: row.ref('excluded.name'),
          username: row.ref('excluded.username'),
          image: row.ref('excluded.image'),
          bio: row.ref('excluded.bio'),
          locale: row.ref('excluded.locale'),
          timezone: row.ref('excluded.timezone'),
          search_name: row.ref('excluded.search_name'),
          changed_at: row.ref('excluded.changed_at')
        }))
        .whereRef('people.changed_at', '<', 'excluded.changed_at')
    )
    .execute()
}
