import { sql } from 'kysely'
import type { Db } from '../tables.ts'

/**
 * Removes a place: no search finds it, and neither an import nor people bring it back. Venues that people have chosen
 * stay theirs. Its name, which may be why, is erased.
 * @returns its name; undefined if there is no such place
 */
export async function removePlace (db: Db, id: string) {
  return await db.transaction().execute(async (trx) => {
    const place = await trx.selectFrom('places').where('id', '=', id).where('removed_at', 'is', null).select('name')
      .forUpdate().executeTakeFirst()
    if (!place) return undefined
    await trx.updateTable('places').where('id', '=', id).set({ removed_at: sql`now()`, name: '', name_key: '' })
      .execute()
    return place.name
  })
}

/** Lets the next import, or people, bring a removed place back. @returns whether it was removed */
export async function restorePlace (db: Db, id: string) {
  const { numDeletedRows } = await db.deleteFrom('places').where('id', '=', id).where('removed_at', 'is not', null)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
