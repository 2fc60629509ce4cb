import type { Appearance } from '@tandem/contracts'
import { upsertVersioned } from '@tandem/database-kit'
import type { Media } from '@tandem/media-kit'
import type { Db } from '../tables.ts'
import { normalizeName } from './names.ts'

export interface CopyDeps {
  db: Db
  media: Media
}

export type PersonCopy = Appearance

/**
 * Writes people to the local copy, except over newer data.
 * @param at when the data changed, for people without `changedAt`
 */
export async function upsertPeople ({ db, media }: CopyDeps, people: PersonCopy[], at = new Date(0)) {
  await upsertVersioned(
    db,
    'people',
    people.map(({ accountId, name, username, image, imageDetails, bio, locale, timezone, changedAt }) => ({
      account_id: accountId,
      name,
      username: username.toLowerCase(),
      image: media.toStoredValue(image),
      image_width: imageDetails?.width ?? null,
      image_height: imageDetails?.height ?? null,
      image_blurhash: imageDetails?.blurhash ?? null,
      bio,
      locale,
      timezone,
      search_name: normalizeName(name),
      changed_at: changedAt ?? at
    })),
    { key: 'account_id' }
  )
}
