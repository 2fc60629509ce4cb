import { sql } from 'kysely'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { ProgramNotFound, TooManyPrograms } from '../errors.ts'
import { lockAccount } from '../progress/actions.ts'
import type { Db } from '../tables.ts'
import { listPrograms, type Program } from './queries.ts'

const MAX_PROGRAMS = 50

interface NewDay {
  dayOfWeek: number
  name: string
  isRestDay: boolean
  exercises: { name: string, sets: number, repsMin: number, repsMax: number }[]
}
export interface NewProgram {
  name: string
  days: NewDay[]
}

export async function createProgram (
  db: Db,
  accountId: string,
  { name, days }: NewProgram,
  idempotencyKey: IdempotencyKey | undefined
): Promise<Program> {
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    await lockAccount(trx, accountId)
    const program = await sql<{ id: string }>`
      insert into programs (account_id, name)
      select ${accountId}, ${name}
      where (select count(*) from programs where account_id = ${accountId}) < ${sql.lit(MAX_PROGRAMS)}
      returning id`.execute(trx)
    const [inserted] = program.rows
    if (!inserted) throw new TooManyPrograms()

    const insertedDays = await trx.insertInto('program_days')
      .values(
        days.map((day) => ({
          program_id: inserted.id,
          day_of_week: day.dayOfWeek,
          name: day.name,
          is_rest_day: day.isRestDay
        }))
      )
      .returning(['id', 'day_of_week'])
      .execute()
    const ids = new Map(insertedDays.map((day) => [day.day_of_week, day.id]))
    const exercises = days.flatMap((day) =>
      day.exercises.map((exercise, position) => ({
        program_day_id: ids.get(day.dayOfWeek) as string,
        position,
        name: exercise.name,
        sets: exercise.sets,
        reps_min: exercise.repsMin,
        reps_max: exercise.repsMax
      }))
    )
    if (exercises.length > 0) await trx.insertInto('program_exercises').values(exercises).execute()
    const [created] = await listPrograms(trx, accountId, inserted.id)
    return created as Program
  })
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
