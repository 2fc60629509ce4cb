import type { Db } from '../tables.ts'

/** The local copy of a person; undefined if there is none yet. */
export async function findPerson (db: Db, accountId: string) {
  return await db.selectFrom('people').leftJoin('profile_weights', 'profile_weights.account_id', 'people.account_id')
    .leftJoin('profile_facts', 'profile_facts.account_id', 'people.account_id')
    .where('people.account_id', '=', accountId)
    .select(['name', 'image', 'timezone', 'weighed_at as weighedAt', 'workout_frequency as workoutFrequency'])
    .executeTakeFirst()
}
