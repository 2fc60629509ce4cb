import { sql } from 'kysely'
import { exerciseKeyOf } from '../exercises/library.ts'
import { exerciseNameIn } from '../exercises/names.ts'
import { readProgramDay } from '../programs/queries.ts'
import type { Db } from '../tables.ts'

const MINUTES_PER_SET = 3
const MIN_MINUTES = 10
// No workout is longer than a day.
const MAX_MINUTES = 24 * 60

/**
 * The workout that a day of a program plans, as data of a log: each set with the fewest planned repetitions and the
 * weight of the newest lift of the exercise, which is 0 without one. Without a duration, three minutes for each set.
 * Exercises have their names in `language`.
 * @throws ProgramDayNotFound
 */
export async function planWorkout (
  db: Db,
  accountId: string,
  { programDayId, durationMinutes, language }: {
    programDayId: string,
    durationMinutes: number | undefined,
    language: string
  }
) {
  const day = await readProgramDay(db, accountId, programDayId)
  const weights = await readNewestWeights(db, accountId, day.exercises.map(({ name }) => exerciseKeyOf(name)))
  const sets = day.exercises.reduce((sum, exercise) => sum + exercise.sets, 0)
  return {
    title: day.name,
    programDayId,
    durationMinutes: durationMinutes ?? Math.min(Math.max(MIN_MINUTES, sets * MINUTES_PER_SET), MAX_MINUTES),
    exercises: day.exercises.map(({ name, exerciseId, sets, repsMin }) => ({
      name: exerciseNameIn(language, { exerciseId, name }),
      ...(exerciseId !== null && { exerciseId }),
      sets: Array.from({ length: sets }, () => ({ reps: repsMin, weightKg: weights.get(exerciseKeyOf(name)) ?? 0 }))
    }))
  }
}

async function readNewestWeights (db: Db, accountId: string, exerciseKeys: string[]) {
  const lifts = await db.selectFrom('lifts')
    .distinctOn('exercise_key')
    .where('account_id', '=', accountId)
    .where('exercise_key', '=', sql<string>`any(${exerciseKeys}::text[])`)
    .select(['exercise_key as key', sql<number>`weight_kg::float8`.as('weightKg')])
    .orderBy('exercise_key').orderBy('at', 'desc').orderBy('log_id', 'desc')
    .execute()
  return new Map(lifts.map(({ key, weightKg }) => [key, weightKg]))
}
