import type { Appearance } from '@tandem/contracts'
import { upsertVersioned } from '@tandem/database-kit'
import type { Media } from '@tandem/media-kit'
import type { Db } from '../tables.ts'

export interface CopyDeps {
  db: Db
  media: Media
}

export type PersonCopy = Pick<Appearance, 'accountId' | 'name' | 'image' | 'changedAt'>

/** Stores copies of people, unless newer ones exist. `at` is the time of the change, for people without `changedAt`. */
export async function upsertPeople ({ db, media }: CopyDeps, people: PersonCopy[], at = new Date(0)) {
  await upsertVersioned(
    db,
    'people',
    people.map(({ accountId, name, image, changedAt }) => ({
      account_id: accountId,
      name,
      image: media.toStoredValue(image),
      changed_at: changedAt ?? at
    })),
    { key: 'account_id' }
  )
}
