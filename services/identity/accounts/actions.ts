import { sql } from 'kysely'
import type { Appearance } from '@tandem/contracts'
import type { Deps } from '../deps.ts'

/**
 * Updates the copy of a person that is shown while the profile service is unavailable. An older event never overwrites
 * a newer one, and a late one writes nothing to an account that is erased.
 */
export async function upsertPerson (
  { db, mediaUrls }: Pick<Deps, 'db' | 'mediaUrls'>,
  { accountId, name, image, locale }: Pick<Appearance, 'accountId' | 'name' | 'image' | 'locale'>,
  version: Date | string
) {
  const changedAt = sql<Date>`${version}::timestamptz`
  await db.updateTable('accounts')
    .set({ name, image: mediaUrls.toStoredValue(image), locale, person_changed_at: changedAt, updated_at: sql`now()` })
    .where('id', '=', accountId).where('expired_at', 'is', null)
    .where((where) => where.or([where('person_changed_at', 'is', null), where('person_changed_at', '<', changedAt)]))
    .execute()
}
