import type { Appearance } from '@tandem/contracts'
import { upsertVersioned } from '@tandem/database-kit'
import type { MediaUrls } from '@tandem/media-url-kit'
import type { Db } from '../tables.ts'

export interface CopyDeps {
  db: Db
  mediaUrls: MediaUrls
}

export type PersonCopy = Omit<Appearance, 'username' | 'imageDetails' | 'bio'>

/**
 * Stores copies of people, unless a newer one exists. `at` is the time of the change, for people without `changedAt`.
 */
export async function upsertPeople ({ db, mediaUrls }: CopyDeps, people: PersonCopy[], at = new Date(0)) {
  if (people.length === 0) return
  await upsertVersioned(
    db,
    'people',
    people.map(({ accountId, name, image, locale, timezone, pushNotifications = null, changedAt }) => ({
      account_id: accountId,
      name,
      image: mediaUrls.toStoredValue(image),
      locale,
      timezone,
      push_notifications: pushNotifications,
      changed_at: changedAt ?? at
    })),
    { key: 'account_id' }
  )
  // Broadcasts reach every account that has an inbox.
  await db.insertInto('inboxes')
    .values(people.map(({ accountId }) => accountId).toSorted().map((accountId) => ({ account_id: accountId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
