import { sql } from 'kysely'
import type { Db } from '../tables.ts'

export interface PersonCopy {
  accountId: string
  name: string
  image: string | null
  locale: string
  timezone: string
  changedAt?: string
}

/**
 * Stores copies of people, unless a newer one exists. `at` is the time of the change, for people without `changedAt`.
 */
export async function upsertPeople (db: Db, people: PersonCopy[], at = new Date(0)) {
  if (people.length === 0) return
  const sorted = people.toSorted((a, b) => a.accountId < b.accountId ? -1 : 1)
  await db.insertInto('people')
    .values(sorted.map(({ accountId, name, image, locale, timezone, changedAt }) => ({
      account_id: accountId,
      name,
      image,
      locale,
      timezone,
      changed_at: sql<Date>`${changedAt ?? at}::timestamptz`
    })))
    .onConflict((conflict) =>
      conflict.column('account_id')
        .doUpdateSet((row) => ({
          name: row.ref('excluded.name'),
          image: row.ref('excluded.image'),
          locale: row.ref('excluded.locale'),
          timezone: row.ref('excluded.timezone'),
          changed_at: row.ref('excluded.changed_at')
        }))
        .whereRef('people.changed_at', '<', 'excluded.changed_at')
    )
    .execute()
  // Broadcasts reach every account that has an unread count.
  await db.insertInto('unread_counts')
    .values(sorted.map(({ accountId }) => ({ account_id: accountId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
