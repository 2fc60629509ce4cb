import { sql } from 'kysely'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { awardPrograms } from '../achievements/actions.ts'
import { findOrAddExercises, type ExerciseReference } from '../exercises/actions.ts'
import { ProgramNotFound, TooManyPrograms } from '../errors.ts'
import { lockAccount } from '../progress/actions.ts'
import type { Db, Trx } from '../tables.ts'
import { readProgram, type Program } from './queries.ts'

const MAX_PROGRAMS = 50

type NewExercise = ExerciseReference & { sets: number, repsMin: number, repsMax: number }
interface NewDay {
  dayOfWeek: number
  name: string
  isRestDay: boolean
  exercises: NewExercise[]
}
export interface NewProgram {
  name: string
  days: NewDay[]
}

/** Whose program it is, and the language in which its exercises may be named. */
interface Owner {
  accountId: string
  language: string
}

/** @throws TooManyPrograms, TooManyExercises, ValidationError for an unknown exercise */
export async function createProgram (
  db: Db,
  { accountId, language }: Owner,
  { name, days }: NewProgram,
  idempotencyKey: IdempotencyKey | undefined
): Promise<Program> {
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    await lockAccount(trx, accountId)
    const { count } = await trx.selectFrom('programs').where('account_id', '=', accountId)
      .select((programs) => programs.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    if (count >= MAX_PROGRAMS) throw new TooManyPrograms()
    const { id } = await trx.insertInto('programs').values({ account_id: accountId, name }).returning('id')
      .executeTakeFirstOrThrow()
    await saveDays(trx, { accountId, language }, id, days)
    return await readProgram(trx, accountId, id)
  })
}

/**
 * Replaces the name and the days of a program. A day of the week that stays keeps its id, which workouts refer to. With
 * fewer days, the program may be completed.
 * @throws ProgramNotFound, TooManyExercises, ValidationError for an unknown exercise
 */
export async function replaceProgram (
  db: Db,
  { accountId, language }: Owner,
  programId: string,
  { name, days }: NewProgram
) {
  return await db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    const program = await trx.updateTable('programs').set({ name })
      .where('id', '=', programId).where('account_id', '=', accountId)
      .returning('id').executeTakeFirst()
    if (!program) throw new ProgramNotFound()
    await trx.deleteFrom('program_days').where('program_id', '=', program.id)
      .where('day_of_week', 'not in', days.map(({ dayOfWeek }) => dayOfWeek))
      .execute()
    await saveDays(trx, { accountId, language }, program.id, days)
    await awardPrograms(trx, accountId)
    return await readProgram(trx, accountId, program.id)
  })
}

/** Saves days with their exercises, in the place of those of the same days of the week. */
async function saveDays (trx: Trx, { accountId, language }: Owner, programId: string, days: NewDay[]) {
  const savedDays = await trx.insertInto('program_days')
    .values(
      days.map((day) => ({
        program_id: programId,
        day_of_week: day.dayOfWeek,
        name: day.name,
        is_rest_day: day.isRestDay
      }))
    )
    .onConflict((conflict) =>
      conflict.columns(['program_id', 'day_of_week']).doUpdateSet(({ ref }) => ({
        name: ref('excluded.name'),
        is_rest_day: ref('excluded.is_rest_day')
      }))
    )
    .returning(['id', 'day_of_week'])
    .execute()
  const ids = new Map(savedDays.map((day) => [day.day_of_week, day.id]))
  await trx.deleteFrom('program_exercises').where('program_day_id', 'in', [...ids.values()]).execute()

  const planned = days.flatMap(({ dayOfWeek, exercises }) =>
    exercises.map((exercise, position) => ({ ...exercise, position, dayId: ids.get(dayOfWeek) ?? '' }))
  )
  if (planned.length === 0) return
  const found = await findOrAddExercises(trx, accountId, { references: planned, language })
  const rows = planned.map(({ dayId, position, sets, repsMin, repsMax }, index) => ({
    program_day_id: dayId,
    position,
    name: found[index]?.name ?? '',
    exercise_id: found[index]?.id ?? null,
    sets,
    reps_min: repsMin,
    reps_max: repsMax
  }))
  await trx.insertInto('program_exercises').values(rows).execute()
}

export async function deleteProgram (db: Db, accountId: string, programId: string) {
  const deleted = await db.deleteFrom('programs').where('id', '=', programId).where('account_id', '=', accountId)
    .returning('id').executeTakeFirst()
  if (!deleted) throw new ProgramNotFound()
}

/** Makes a program the active one; null deactivates the active program. */
export async function activateProgram (db: Db, accountId: string, programId: string | null) {
  if (programId === null) return await db.deleteFrom('active_programs').where('account_id', '=', accountId).execute()
  // The program's row is locked, so that it cannot be deleted between the select and the insert.
  const { rows } = await sql`
    with found as (select id from programs where id = ${programId} and account_id = ${accountId} for key share)
    insert into active_programs (account_id, program_id) select ${accountId}, id from found
    on conflict (account_id) do update set program_id = excluded.program_id
    returning program_id`.execute(db)
  if (rows.length === 0) throw new ProgramNotFound()
}
