import { sql } from 'kysely'
import { ProgramDayNotFound, ProgramNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'

export interface Exercise {
  id: string
  name: string
  /** Null in a program that is older than the library. */
  exerciseId: string | null
  sets: number
  repsMin: number
  repsMax: number
}
interface ProgramDay {
  id: string
  dayOfWeek: number
  name: string
  isRestDay: boolean
  exercises: Exercise[]
}
export interface Program {
  id: string
  name: string
  isActive: boolean
  createdAt: Date
  days: ProgramDay[]
}

// The exercises of a day as an ordered JSON array.
const exercises = sql<Exercise[]>`(
  select coalesce(json_agg(json_build_object(
    'id', id, 'name', name, 'exerciseId', exercise_id, 'sets', sets, 'repsMin', reps_min, 'repsMax', reps_max
  ) order by position), '[]')
  from program_exercises where program_day_id = program_days.id)`

const days = sql<ProgramDay[]>`(
  select coalesce(json_agg(json_build_object(
    'id', id, 'dayOfWeek', day_of_week, 'name', name, 'isRestDay', is_rest_day, 'exercises', ${exercises}
  ) order by day_of_week), '[]')
  from program_days where program_id = programs.id)`

/** An account's programs, newest first. @param programId only this program */
export async function listPrograms (db: Db, accountId: string, programId?: string): Promise<Program[]> {
  return await db.selectFrom('programs')
    .leftJoin('active_programs', (on) =>
      on
        .onRef('active_programs.program_id', '=', 'programs.id').onRef(
          'active_programs.account_id',
          '=',
          'programs.account_id'
        ))
    .where('programs.account_id', '=', accountId)
    .$if(programId !== undefined, (programs) => programs.where('programs.id', '=', programId as string))
    .select([
      'programs.id',
      'programs.name',
      'programs.created_at as createdAt',
      sql<boolean>`active_programs.program_id is not null`.as('isActive'),
      days.as('days')
    ])
    .orderBy('programs.id', 'desc')
    .execute()
}

/** @throws ProgramNotFound */
export async function readProgram (db: Db, accountId: string, programId: string) {
  const [program] = await listPrograms(db, accountId, programId)
  if (!program) throw new ProgramNotFound()
  return program
}

/** The active program's workout for a day, unless it is a rest day, and whether it is logged on that day. */
export async function findWorkout (db: Db, accountId: string, day: Temporal.PlainDate) {
  return await db.selectFrom('active_programs')
    .innerJoin('program_days', 'program_days.program_id', 'active_programs.program_id')
    .where('active_programs.account_id', '=', accountId)
    .where('day_of_week', '=', day.dayOfWeek)
    .where('is_rest_day', '=', sql.lit(false))
    .select(({ exists, selectFrom }) => [
      'program_days.id as programDayId',
      'program_days.name',
      'is_rest_day as isRestDay',
      exercises.as('exercises'),
      exists(
        selectFrom('logs').where('logs.account_id', '=', accountId)
          .where(sql<boolean>`day = ${day.toString()}::date`)
          .where('type', '=', 'WORKOUT')
          .where(sql<boolean>`data ->> 'programDayId' = program_days.id::text`)
      ).$castTo<boolean>().as('isFinished')
    ])
    .executeTakeFirst()
}

/** A day of one of the account's programs. @throws ProgramDayNotFound */
export async function readProgramDay (db: Db, accountId: string, programDayId: string) {
  const day = await db.selectFrom('program_days').innerJoin('programs', 'programs.id', 'program_id')
    .where('program_days.id', '=', programDayId)
    .where('account_id', '=', accountId)
    .select(['program_days.id', 'program_days.name', exercises.as('exercises')])
    .executeTakeFirst()
  if (!day) throw new ProgramDayNotFound()
  return day
}
