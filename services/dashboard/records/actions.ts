import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { RecordSet, RecordsLost } from '@tandem/contracts'
import { chunksOf } from '@tandem/process-kit'
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
export async function deleteLifts (trx: Trx, accountId: string, logIds: string[]): Promise<Lift[]> {
  if (logIds.length === 0) return []
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
    .execute()
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
 * What makes a lift a record: its weight; without weight or with assistance, of equal weights its repetitions, which
 * count for less than 0.01 kg in all.
 */
const strength = sql`(round(weight_kg, 2) + case when weight_kg <= 0 then reps / 1000000.0 else 0 end)`

/**
 * Recomputes which lifts of these exercises are records: those stronger than all earlier lifts of the exercise. Of equal
 * ones at one time, the id of the client decides, so that it does not matter which arrived first.
 * @returns the lifts whose `isRecord` changed, with the days of their workouts
 */
export async function markRecords (
  trx: Trx,
  accountId: string,
  exerciseKeys: string[]
): Promise<(Lift & { day: string })[]> {
  if (exerciseKeys.length === 0) return []
  const { rows } = await sql<Lift & { day: string }>`
    with marked as (
      select log_id, exercise_key, day, coalesce(${strength} > max(${strength}) over earlier, true) as is_record
      from lifts join logs on logs.id = log_id
      where lifts.account_id = ${accountId} and exercise_key = any(${exerciseKeys}::text[])
      window earlier as (
        partition by exercise_key order by lifts.at, ${strength} desc, client_id
        rows between unbounded preceding and 1 preceding
      )
    )
    update lifts set is_record = marked.is_record from marked
    where lifts.log_id = marked.log_id and lifts.exercise_key = marked.exercise_key
      and lifts.is_record <> marked.is_record
    returning lifts.log_id as "logId", lifts.exercise_key as "exerciseKey", lifts.exercise,
      lifts.weight_kg::float8 as "weightKg", lifts.reps, lifts.at, lifts.is_record as "isRecord", marked.day::text`
    .execute(trx)
  return rows
}

// Each record becomes a notification, and an import of years of training can contain thousands.
const MAX_RECORDS_PUBLISHED = 20
// Keeps the event below the 64 KiB limit of the bus.
const MAX_LOST_PER_EVENT = 100

interface ChangedLifts {
  /** The lifts of the changed workouts as they were. */
  removed: Lift[]
  /** What `markRecords` returned. */
  changed: Lift[]
  /** The changed workouts that are left. */
  logIds: Set<string>
}

/**
 * Publishes which records are new or corrected among the lifts of changed workouts, and which are lost. A lift that
 * becomes a record because another log was deleted is not published.
 * @returns the new and corrected ones
 */
export async function publishRecords (trx: Trx, accountId: string, { removed, changed, logIds }: ChangedLifts) {
  const standing = changed.filter(({ isRecord }) => isRecord)
  const before = removed.filter(({ isRecord }) => isRecord)
  const lost = [
    ...before.filter((lift) => !standing.some((each) => isSamePlace(each, lift))),
    ...changed.filter(({ isRecord }) => !isRecord)
  ]
  for (const chunk of chunksOf(lost, MAX_LOST_PER_EVENT)) {
    const records = chunk.map(({ logId, exerciseKey }) => ({ logId, exerciseKey }))
    await publish(trx, RecordsLost, accountId, { accountId, records })
  }
  const news = standing.filter((lift) => logIds.has(lift.logId) && !before.some((each) => isSameLift(each, lift)))
  for (const { at: _, isRecord: __, ...lift } of news.sort(byTime).slice(-MAX_RECORDS_PUBLISHED)) {
    await publish(trx, RecordSet, accountId, { accountId, ...lift })
  }
  return news
}

const isSamePlace = (one: Lift, other: Lift) => one.logId === other.logId && one.exerciseKey === other.exerciseKey
const isSameLift = (one: Lift, other: Lift) =>
  isSamePlace(one, other) && one.exercise === other.exercise && one.weightKg === other.weightKg &&
  one.reps === other.reps
const byTime = (a: Lift, b: Lift) => a.at.getTime() - b.at.getTime() || a.exerciseKey.localeCompare(b.exerciseKey)
