import { sql } from 'kysely'
import { findInLibraryByName } from '../exercises/library.ts'
import { libraryNameIn } from '../exercises/names.ts'
import type { Db } from '../tables.ts'

const MAX_RECORDS = 500

/**
 * The heaviest set of each exercise, newest first, for at most the 500 newest exercises. One of the library has its name
 * in the language, one of the account its own, another one the name in the log.
 */
export async function listRecords (db: Db, accountId: string, language: string) {
  const records = await db
    .selectFrom((heaviest) =>
      heaviest.selectFrom('lifts')
        .distinctOn('exercise_key')
        .where('lifts.account_id', '=', accountId)
        .where('is_record', '=', sql.lit(true))
        .leftJoin('custom_exercises', (on) =>
          on.onRef('custom_exercises.account_id', '=', 'lifts.account_id')
            .onRef('custom_exercises.key', '=', 'lifts.exercise_key'))
        .select([
          (row) => row.fn.coalesce('custom_exercises.name', 'exercise').as('exercise'),
          'exercise_key as exerciseKey',
          sql<string | null>`case when deleted_at is null then custom_exercises.id end`.as('customId'),
          sql<number>`weight_kg::float8`.as('weightKg'),
          'reps',
          'at as achievedAt'
        ])
        .orderBy('exercise_key').orderBy('at', 'desc').orderBy('log_id', 'desc')
        .as('records')
    )
    .selectAll()
    .orderBy('achievedAt', 'desc').orderBy('exercise')
    .limit(MAX_RECORDS)
    .execute()
  return records.map(({ exerciseKey, customId, ...record }) => {
    const known = findInLibraryByName(exerciseKey)
    return known
      ? { ...record, exercise: libraryNameIn(language, known), exerciseId: known.id }
      : { ...record, exerciseId: customId }
  })
}
