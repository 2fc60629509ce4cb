import { sql } from 'kysely'
import type { Trx } from '../tables.ts'

/** The heaviest set of an exercise in a workout. */
export interface Lift {
  logId: string
  exerciseKey: string
  exercise: string
  weightKg: number
  reps: number
  at: Date
  isRecord: boolean
}

/** Deletes the lifts of workouts and returns them. */
export async function deleteLifts (trx: Trx, accountId: string, logIds: string[]) {
  return await trx.deleteFrom('lifts')
    .where('log_id', '=', sql<string>`any(${logIds}::uuid[])`)
    .where('account_id', '=', accountId)
    .returning([
      'log_id as logId',
      'exercise_key as exerciseKey',
      'exercise',
      sql<number>`weight_kg::float8`.as('weightKg'),
      'reps',
      'at',
      'is_record as isRecord'
    ])
    .execute() satisfies Lift[]
}

/** Inserts lifts. None is a record until `markRecords` runs. */
export async function insertLifts (trx: Trx, accountId: string, lifts: Omit<Lift, 'isRecord'>[]) {
  if (lifts.length === 0) return
  await sql`
    insert into lifts (account_id, log_id, exercise_key, exercise, weight_kg, reps, at)
    select ${accountId}, "logId", "exerciseKey", exercise, "weightKg", reps, at
    from jsonb_to_recordset(${JSON.stringify(lifts)}::jsonb)
      as lift ("logId" uuid, "exerciseKey" text, exercise text, "weightKg" numeric, reps integer, at timestamptz)`
    .execute(trx)
}

/**
 * Recomputes which lifts are records: those heavier than all earlier lifts of the exercise. For each exercise only
 * lifts since the given time are checked, because nothing earlier can have changed.
 * @returns the lifts whose `isRecord` changed, with the days of their workouts
 */
export async function markRecords (
  trx: Trx,
  accountId: string,
  since: Map<string, Date>
): Promise<(Lift & { day: string })[]> {
  if (since.size === 0) return []
  const { rows } = await sql<Lift & { day: string }>`
    with touched as (
      select * from unnest(
        ${[...since.keys()]}::text[],
        ${[...since.values()]}::timestamptz[]
      ) as touched (exercise_key, since)
    ), marked as (
      select lifts.log_id, lifts.exercise_key, lifts.weight_kg > greatest(
        0,
        earlier.weight_kg,
        max(lifts.weight_kg) over (
          partition by lifts.exercise_key order by lifts.at, lifts.log_id
          rows between unbounded preceding and 1 preceding
        )
      ) as is_record
      from touched
      join lifts on lifts.account_id = ${accountId} and lifts.exercise_key = touched.exercise_key
        and lifts.at >= touched.since
      left join lateral (
        select weight_kg from lifts
        where account_id = ${accountId} and exercise_key = touched.exercise_key and is_record and at < touched.since
        order by at desc, log_id desc limit 1
      ) earlier on true
    )
    update lifts set is_record = marked.is_record
    from marked, logs
    where lifts.log_id = marked.log_id and lifts.exercise_key = marked.exercise_key
      and lifts.is_record <> marked.is_record and logs.id = lifts.log_id
    returning lifts.log_id as "logId", lifts.exercise_key as "exerciseKey", lifts.exercise,
      lifts.weight_kg::float8 as "weightKg", lifts.reps, lifts.at, lifts.is_record as "isRecord", logs.day::text`
    .execute(trx)
  return rows
}
