import type { Db } from '../tables.ts'

/** What was last heard of a person; undefined when it was nothing yet. */
export async function findPerson (db: Db, accountId: string) {
  return await db.selectFrom('people').leftJoin('profile_weights', 'profile_weights.account_id', 'people.account_id')
    .where('people.account_id', '=', accountId)
    .select(['name', 'image', 'timezone', 'kg as profileKg'])
    .executeTakeFirst()
}
