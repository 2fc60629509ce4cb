import { sql } from 'kysely'
import type { Db } from '../tables.ts'

const MOST = 500

/** The heaviest set so far of each exercise, newest first; of somebody with more than 500 exercises the newest 500. */
export async function listRecords (db: Db, accountId: string) {
  return await db
    .selectFrom((heaviest) => heaviest.selectFrom('lifts')
      .distinctOn('exercise_key')
      .where('account_id', '=', accountId)
      .where('is_record', '=', sql.lit(true))
      .select(['exercise', sql<number>`weight_kg::float8`.as('weightKg'), 'reps', 'at as achievedAt'])
      .orderBy('exercise_key').orderBy('at', 'desc').orderBy('log_id', 'desc')
      .as('records'))
    .selectAll()
    .orderBy('achievedAt', 'desc').orderBy('exercise')
    .limit(MOST)
    .execute()
}
