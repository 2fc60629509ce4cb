import { sql } from 'kysely'
import type { Db } from '../tables.ts'

const MAX_RECORDS = 500

/** The heaviest set of each exercise, newest first, for at most the 500 newest exercises. */
export async function listRecords (db: Db, accountId: string) {
  return await db
    .selectFrom((heaviest) =>
      heaviest.selectFrom('lifts')
        .distinctOn('exercise_key')
        .where('account_id', '=', accountId)
        .where('is_record', '=', sql.lit(true))
        .select(['exercise', sql<number>`weight_kg::float8`.as('weightKg'), 'reps', 'at as achievedAt'])
        .orderBy('exercise_key').orderBy('at', 'desc').orderBy('log_id', 'desc')
        .as('records')
    )
    .select(['exercise', 'weightKg', 'reps', 'achievedAt'])
    .orderBy('achievedAt', 'desc').orderBy('exercise')
    .limit(MAX_RECORDS)
    .execute()
}
