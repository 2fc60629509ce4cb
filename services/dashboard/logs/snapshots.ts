import { sql } from 'kysely'
import type Type from 'typebox'
import { Parse } from 'typebox/value'
import { dataSchemas } from '../log-types/data.ts'
import type { Db, LogData } from '../tables.ts'

const MINUTE_MS = 60_000

/** A workout of the account as its posts show it; null if the account has none with this id. */
export async function findWorkoutSnapshot (db: Db, accountId: string, workoutId: string) {
  const log = await db.selectFrom('logs')
    .where('account_id', '=', accountId).where('id', '=', workoutId).where('type', '=', 'WORKOUT')
    .select((row) => [
      'id',
      'at',
      sql<LogData>`coalesce(session_data, data)`.as('data'),
      row.selectFrom('lifts')
        .where(sql<boolean>`log_id = any(coalesce(logs.parts, array[logs.id]))`)
        .where('is_record', '=', true)
        .select(({ fn }) => fn.countAll<number>().as('prs')).as('prs')
    ])
    .executeTakeFirst()
  if (!log) return null
  const { title, durationMinutes, exercises = [], calories } = Parse(dataSchemas.WORKOUT, log.data)
  return {
    id: log.id,
    name: title ?? null,
    startedAt: new Date(log.at.getTime() - durationMinutes * MINUTE_MS).toISOString(),
    durationMinutes,
    exercises: exercises.length,
    volumeKg: volumeOf(exercises),
    prs: log.prs ?? 0,
    calories: calories ?? null
  }
}

type Exercises = NonNullable<Type.Static<typeof dataSchemas.WORKOUT>['exercises']>

/** The lifted weight. Body weight and assistance add nothing. */
function volumeOf (exercises: Exercises) {
  const sets = exercises.flatMap((exercise) => exercise.sets)
  const kg = sets.reduce((sum, { reps, weightKg }) => sum + reps * Math.max(0, weightKg), 0)
  return Math.round(kg * 100) / 100
}
