import { sql } from 'kysely'
import { awardPrograms, programDaysOf, takeBackUntrue } from '../achievements/actions.ts'
import { readCustomNames } from '../exercises/queries.ts'
import { measure, measuredTypes } from '../measurements/actions.ts'
import { recalculate, type LockedTotals } from '../progress/actions.ts'
import { deleteLifts, insertLifts, markRecords, publishRecords } from '../records/actions.ts'
import type { LogData, LogType, Source, Trx } from '../tables.ts'
import { regroup, trainedParts } from './grouping.ts'
import { hasCustomExercise, liftsOf } from './lifts.ts'
import type { Span } from '../log-types/data.ts'
import { spanOf } from '../log-types/spans.ts'
import { findNewestWeight, publishNewestWeight } from './weights.ts'

/** A log as it is stored. */
export interface StoredLog {
  id: string
  key: string
  sentClientId: string | null
  type: LogType
  at: Date
  endsAt: Date | null
  day: string
  timezone: string
  data: LogData
  modifiedAt: Date | null
  source: Source | null
  isSplit: boolean
}

export const storedColumns = [
  'id',
  'client_id as key',
  'sent_client_id as sentClientId',
  'type',
  'at',
  'ends_at as endsAt',
  sql<string>`day::text`.as('day'),
  'timezone',
  'data',
  'modified_at as modifiedAt',
  'source',
  'is_split as isSplit'
] as const

/** A log to write: all but its id. */
export interface Write extends Omit<StoredLog, 'id'> {
  /** The id that it had before it was deleted: devices know it by that. */
  restoredId: string | null
  externalId: string | null
  importId: string | null
}

interface Changes {
  writes: Write[]
  /** The logs of `writes` as they are before, and those to delete. */
  before: StoredLog[]
  deleted: StoredLog[]
}

/**
 * Writes and deletes logs, and updates everything derived from them. Call it with the account locked.
 * @returns the written logs and what changed with them
 */
export async function applyChanges (
  trx: Trx,
  accountId: string,
  totals: LockedTotals,
  { writes, before, deleted }: Changes
) {
  const revision = totals.revision + 1
  const old = [...before, ...deleted]
  const isAboutWeight = [...writes, ...old].some(({ type }) => type === 'WEIGHT')
  const weightBefore = isAboutWeight ? await findNewestWeight(trx, accountId) : undefined
  const lifts = await deleteLifts(trx, accountId, workoutsOf(old).map(({ id }) => id))
  await deleteLogs(trx, deleted)
  const written = await upsert(trx, accountId, writes, revision)
  if (isAboutWeight) await publishNewestWeight(trx, accountId, weightBefore)

  const touched = [...written, ...old]
  const moved = await updateSessions(trx, accountId, { touched, written, lifts, revision })
  for (const type of measuredTypes) {
    const measured = touched.filter((log) => log.type === type)
    if (measured.length > 0) await measure(trx, accountId, type, measured.map(spanOf))
  }
  const days = new Set([...touched, ...moved.logs].map(({ day }) => day))
  const { gains, hasLost } = await recalculate(trx, accountId, totals, [...days])
  const programDays = programDaysOf(workoutsOf(written))
  if (programDays.size > 0) await awardPrograms(trx, accountId)
  const hasLostProgramDay = !programDaysOf(workoutsOf(old)).isSubsetOf(programDays)
  if (hasLost || hasLostProgramDay) await takeBackUntrue(trx, accountId, { hasLostProgramDay })
  return { written, gains, records: moved.records, sessions: moved.sessions }
}

const workoutsOf = <Log extends { type: LogType }>(logs: Log[]) => logs.filter(({ type }) => type === 'WORKOUT')

async function deleteLogs (trx: Trx, logs: { id: string }[]) {
  if (logs.length === 0) return
  await trx.deleteFrom('logs').where('id', '=', sql<string>`any(${logs.map(({ id }) => id)}::uuid[])`).execute()
}

export type Written = Write & { id: string }

// An edit takes a log out of its import, so that undoing the import does not delete what the person wrote.
async function upsert (trx: Trx, accountId: string, writes: Write[], revision: number): Promise<Written[]> {
  if (writes.length === 0) return []
  const { rows } = await sql<{ id: string, key: string }>`
    insert into logs (
      id, account_id, client_id, sent_client_id, external_id, type, at, ends_at, day, timezone, data, bytes,
      modified_at, source, is_split, import_id, revision
    )
    select coalesce("restoredId", uuidv7()), ${accountId}, key, "sentClientId", "externalId", type, at, "endsAt", day,
      timezone, data, octet_length(data::text), "modifiedAt", source, "isSplit", "importId", ${revision}
    from jsonb_to_recordset(${JSON.stringify(writes)}::jsonb) as log (
      key text, "sentClientId" text, "externalId" text, type text, at timestamptz, "endsAt" timestamptz, day date,
      "restoredId" uuid, timezone text, data jsonb, "modifiedAt" timestamptz, source jsonb, "isSplit" boolean,
      "importId" uuid
    )
    on conflict (account_id, client_id) do update set
      type = excluded.type, at = excluded.at, ends_at = excluded.ends_at, day = excluded.day,
      timezone = excluded.timezone, data = excluded.data, bytes = excluded.bytes,
      modified_at = excluded.modified_at, source = excluded.source, external_id = excluded.external_id,
      sent_client_id = excluded.sent_client_id, is_split = excluded.is_split, revision = excluded.revision,
      import_id = case when excluded.import_id is null then null else logs.import_id end,
      counts = true, parts = null, session_data = null,
      updated_at = now()
    returning id, client_id as key`.execute(trx)
  const ids = new Map(rows.map(({ id, key }) => [key, id]))
  return writes.map((write) => ({ ...write, id: ids.get(write.key) as string }))
}

type Lifts = Awaited<ReturnType<typeof deleteLifts>>

/**
 * Finds the sessions of workouts and sleeps again. Replaces the lifts of the workouts and publishes new records.
 * `logs` are those whose days change.
 */
async function updateSessions (trx: Trx, accountId: string, { touched, written, lifts, revision }: {
  touched: (Pick<StoredLog, 'type' | 'at' | 'endsAt' | 'data'>)[],
  written: Written[],
  lifts: Lifts,
  revision: number
}) {
  const spansOf = (type: LogType): Span[] => touched.filter((log) => log.type === type).map(spanOf)
  const sleeps = await regroupIfAny(trx, accountId, 'SLEEP', spansOf('SLEEP'), revision)
  const workouts = await regroupIfAny(trx, accountId, 'WORKOUT', spansOf('WORKOUT'), revision)

  const changed = new Set([...workoutsOf(written), ...workouts.regrouped].map(({ id }) => id))
  const affected = workouts.sessions.filter(({ parts }) => parts.some(({ id }) => changed.has(id)))
  const parts = affected.flatMap((session) => session.parts)
  const removed = [...lifts, ...await deleteLifts(trx, accountId, parts.map(({ id }) => id))]
  const trained = trainedParts(affected)
  const customNames = trained.some(hasCustomExercise)
    ? await readCustomNames(trx, accountId)
    : new Map<string, string>()
  const added = trained.flatMap((workout) => liftsOf(workout, customNames))
  await insertLifts(trx, accountId, added)
  const changedLifts = await markRecords(
    trx,
    accountId,
    [...new Set([...removed, ...added].map(({ exerciseKey }) => exerciseKey))]
  )
  const logIds = new Set(trained.map(({ id }) => id))
  const records = await publishRecords(trx, accountId, { removed, changed: changedLifts, logIds })
  return {
    // A record that moves from one part to another leaves the day of the first.
    logs: [...sleeps.regrouped, ...workouts.regrouped, ...parts, ...changedLifts],
    records,
    sessions: [...sleeps.sessions, ...workouts.sessions]
  }
}

const regroupIfAny = async (trx: Trx, accountId: string, type: LogType, changed: Span[], revision: number) =>
  changed.length === 0 ? { sessions: [], regrouped: [] } : await regroup(trx, accountId, type, { changed, revision })
