import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { claimOnce } from '@tandem/bus-kit'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { dayIn } from '@tandem/account-kit'
import { serializeByAccount } from '@tandem/http-kit'
import { awardPrograms, countActivity, findEarnedBy, takeBackUntrue } from '../achievements/actions.ts'
import { LogNotFound } from '../errors.ts'
import { listCustomExercises } from '../exercises/queries.ts'
import { lockAccount, recalculate } from '../progress/actions.ts'
import { insertLifts, listExerciseKeys, markRecords, deleteLifts, publishRecords } from '../records/actions.ts'
import type { Db, LogData, LogType, Trx } from '../tables.ts'
import type { Item, RejectedItem } from './items.ts'
import { markDoubles } from './doubles.ts'
import { hasCustomExercise, liftsOf } from './lifts.ts'
import { logColumns } from './queries.ts'
import { findNewestWeight, publishNewestWeight } from './weights.ts'

export interface ItemResult {
  clientId: string | null
  id: string | null
  status: 'created' | 'updated' | 'unchanged' | 'rejected'
  error?: string
}

interface Batch {
  accountId: string
  zone: string
  parsedItems: (Item | RejectedItem)[]
  idempotencyKey: IdempotencyKey | undefined
}

const runSerialized = serializeByAccount()

/**
 * Upserts logs by their client ids and updates everything derived from them, in one transaction. Of several versions
 * of a log the one with the latest `modifiedAt` wins; without it, the last. Batches of one account run one after the
 * other, so every level, record and achievement is published once.
 * @returns the result of each item, in the order of the items
 */
export async function writeLogs (
  db: Db,
  { accountId, zone, parsedItems, idempotencyKey }: Batch
): Promise<ItemResult[]> {
  return await runSerialized(accountId, async () =>
    await withIdempotencyKey(db, idempotencyKey, async (trx) => {
      const items = parsedItems.filter((item): item is Item => !isRejected(item))
      const written = items.length === 0 ? [] : await writeItems(trx, accountId, zone, items)
      const results = written.values()
      return parsedItems.map((item) =>
        isRejected(item)
          ? { clientId: item.clientId, id: null, status: 'rejected' as const, error: item.error }
          : results.next().value as ItemResult
      )
    }))
}

const isRejected = (item: Item | RejectedItem): item is RejectedItem => 'error' in item

async function writeItems (trx: Trx, accountId: string, zone: string, items: Item[]): Promise<ItemResult[]> {
  const totals = await lockAccount(trx, accountId)
  const existing = await findExisting(trx, accountId, items)
  const deleted = await findDeleted(trx, accountId, items)
  const newest = new Map<string, Item>()
  const outdated = new Set<Item>()
  for (const item of items) {
    const current = newest.get(item.clientId) ?? existing.get(item.clientId)
    if (deleted.has(item.clientId) || isOlder(item, current)) outdated.add(item)
    else newest.set(item.clientId, item)
  }
  const writes = [...newest.values()]
    .map((item) => ({ ...item, existing: existing.get(item.clientId) }))
    .filter((item) => !item.existing || hasChanged(item, item.existing))
    .map((item) => ({ ...item, ...dayAndZoneOf(item, zone) }))
  const isAboutWeight = writes.some(({ type, existing }) => type === 'WEIGHT' || existing?.type === 'WEIGHT')
  const weightBefore = isAboutWeight ? await findNewestWeight(trx, accountId) : undefined
  const written = await upsert(trx, accountId, writes)
  if (isAboutWeight) await publishNewestWeight(trx, accountId, weightBefore)

  const doubles = await markDoubles(trx, accountId, timesOf(written, existing))
  const workouts = written.filter((log) => log.type === 'WORKOUT' || existing.get(log.clientId)?.type === 'WORKOUT')
  const days = new Set(written.flatMap((log) => [log.day, existing.get(log.clientId)?.day ?? log.day]))
  for (const { day } of [...doubles, ...await replaceLifts(trx, accountId, workouts, doubles)]) days.add(day)
  await recalculate(trx, accountId, totals, [...days])
  await awardPrograms(trx, accountId, workouts)

  const ids = new Map(written.map(({ clientId, id }) => [clientId, id]))
  const seenClientIds = new Set(existing.keys())
  return items.map((item) => {
    const { clientId } = item
    const id = ids.get(clientId) ?? existing.get(clientId)?.id ?? null
    if (outdated.has(item)) return { clientId, id, status: 'unchanged' }
    const status = seenClientIds.has(clientId) ? 'updated' as const : 'created' as const
    seenClientIds.add(clientId)
    return { clientId, id, status }
  })
}

/**
 * Counts an activity that another service reports, and logs it as a workout, once for an event. Nothing is logged if the
 * person has a log of this name, which their phone may have sent, or a workout at the same time.
 */
export async function logReportedWorkout (
  db: Db,
  { accountId, zone, eventId, activityId, item }: {
    accountId: string,
    zone: string,
    eventId: string,
    activityId: string,
    item: Item & { endsAt: Date }
  }
) {
  await runSerialized(accountId, async () =>
    await db.transaction().execute(async (trx) => {
      if (!await claimOnce(trx, eventId, 'reported workout')) return
      await lockAccount(trx, accountId)
      await countActivity(trx, accountId, activityId)
      const existing = await trx.selectFrom('logs').where('account_id', '=', accountId)
        .where((log) =>
          log.or([
            log('client_id', '=', item.clientId),
            log.and([
              log('type', '=', 'WORKOUT'),
              log('at', '<', item.endsAt),
              sql<boolean>`at + make_interval(mins => (data ->> 'durationMinutes')::int) > ${item.at}`
            ])
          ])
        )
        .select('id').limit(1)
        .executeTakeFirst()
      if (!existing) await writeItems(trx, accountId, zone, [item])
    }))
}

/** Deletes a log and updates everything derived from it. Its client id is kept for 90 days. */
export async function deleteLog (db: Db, accountId: string, logId: string) {
  await runSerialized(accountId, async () =>
    await db.transaction().execute(async (trx) => {
      const totals = await lockAccount(trx, accountId)
      const achievements = await findEarnedBy(trx, accountId, logId)
      const lifts = await deleteLifts(trx, accountId, [logId])
      const weightBefore = await findNewestWeight(trx, accountId)
      const log = await trx.deleteFrom('logs').where('id', '=', logId).where('account_id', '=', accountId)
        .returning(['client_id', 'type', 'at', sql<string>`day::text`.as('day')])
        .executeTakeFirst()
      if (!log) throw new LogNotFound()
      const doubles = await markDoubles(trx, accountId, isTimed(log) ? [log.at] : [])
      if (log.type === 'WEIGHT') await publishNewestWeight(trx, accountId, weightBefore)
      await trx.insertInto('deleted_logs').values({ account_id: accountId, client_id: log.client_id })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const keys = [...lifts.map(({ exerciseKey }) => exerciseKey), ...await listExerciseKeys(trx, doubles)]
      const changedLifts = await markRecords(trx, accountId, keys)
      await publishRecords(trx, accountId, { removed: lifts, changed: changedLifts, logIds: new Set() })
      const days = new Set([log, ...doubles, ...changedLifts].map(({ day }) => day))
      await recalculate(trx, accountId, totals, [...days])
      await takeBackUntrue(trx, accountId, achievements)
    }))
}

interface ExistingLog {
  id: string
  clientId: string
  type: LogType
  at: Date
  day: string
  timezone: string
  data: LogData
  modifiedAt: Date | null
}

async function findExisting (trx: Trx, accountId: string, items: Item[]) {
  const rows = await trx.selectFrom('logs')
    .where('account_id', '=', accountId)
    .where('client_id', '=', sql<string>`any(${items.map(({ clientId }) => clientId)}::text[])`)
    .select(logColumns)
    .execute()
  return new Map<string, ExistingLog>(rows.map((row) => [row.clientId, row]))
}

/** The client ids of deleted logs. A repeated upload does not create them again. */
async function findDeleted (trx: Trx, accountId: string, items: Item[]) {
  const rows = await trx.selectFrom('deleted_logs')
    .where('account_id', '=', accountId)
    .where('client_id', '=', sql<string>`any(${items.map(({ clientId }) => clientId)}::text[])`)
    .select('client_id')
    .execute()
  return new Set(rows.map(({ client_id }) => client_id))
}

/** Whether the client wrote `item` before the current version. Versions without a time count as they arrive. */
const isOlder = (item: Item, current: Pick<ExistingLog, 'modifiedAt'> | Item | undefined) =>
  item.modifiedAt && current?.modifiedAt ? item.modifiedAt < current.modifiedAt : false

const hasChanged = (item: Item, existing: ExistingLog) =>
  item.type !== existing.type || item.at.getTime() !== existing.at.getTime() ||
  !isDeepStrictEqual(item.data, existing.data) ||
  item.timezone !== undefined && item.timezone !== existing.timezone ||
  item.modifiedAt?.getTime() !== existing.modifiedAt?.getTime()

/**
 * The day of a log is that of the place where it was written: of the time zone that the client names, else the one that
 * the log has already, else the offset of `at`, else `zone`, where the person is now. So neither a later move nor an edit
 * at home changes the day of a log of a journey.
 */
export function dayAndZoneOf (
  { at, timezone, offset, existing }: Item & { existing: ExistingLog | undefined },
  zone: string
) {
  const written = timezone ?? existing?.timezone ?? (offset && offset !== offsetIn(zone, at) ? offset : zone)
  return { day: dayIn(written, at).toString(), timezone: written }
}

const offsetIn = (zone: string, at: Date) =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone).offset

type Write = Item & { day: string, timezone: string }

async function upsert (trx: Trx, accountId: string, writes: Write[]) {
  if (writes.length === 0) return []
  const { rows } = await sql<{ id: string, clientId: string }>`
    insert into logs (account_id, client_id, type, at, day, timezone, data, modified_at)
    select ${accountId}, "clientId", type, at, day, timezone, data, "modifiedAt"
    from jsonb_to_recordset(${JSON.stringify(writes)}::jsonb)
      as log ("clientId" text, type text, at timestamptz, day date, timezone text, data jsonb, "modifiedAt" timestamptz)
    on conflict (account_id, client_id) do update set
      type = excluded.type, at = excluded.at, day = excluded.day, timezone = excluded.timezone,
      data = excluded.data, modified_at = excluded.modified_at, counts = true, updated_at = now()
    returning id, client_id as "clientId"`.execute(trx)
  const ids = new Map(rows.map(({ id, clientId }) => [clientId, id]))
  return writes.map((write) => ({ ...write, id: ids.get(write.clientId) as string }))
}

type Workout = Write & { id: string }

const isTimed = ({ type }: { type: LogType }) => type === 'WORKOUT' || type === 'SLEEP'

/** When the written logs that take time are, and when they were before. */
const timesOf = (written: Write[], existing: Map<string, ExistingLog>) =>
  written.flatMap((log) => [log, existing.get(log.clientId) ?? log]).filter(isTimed).map(({ at }) => at)

/** Replaces the lifts of workouts and publishes the new records among them. */
async function replaceLifts (trx: Trx, accountId: string, workouts: Workout[], doubles: { id: string }[]) {
  if (workouts.length === 0) return []
  const removed = await deleteLifts(trx, accountId, workouts.map(({ id }) => id))
  const trained = workouts.filter(({ type }) => type === 'WORKOUT')
  const custom = trained.some(hasCustomExercise) ? await listCustomExercises(trx, accountId) : []
  const customNames = new Map(custom.map(({ id, name }) => [id, name]))
  const added = trained.flatMap((workout) => liftsOf(workout, customNames))
  await insertLifts(trx, accountId, added)
  const keys = [...removed, ...added].map(({ exerciseKey }) => exerciseKey)
  const changedLifts = await markRecords(trx, accountId, [...keys, ...await listExerciseKeys(trx, doubles)])
  await publishRecords(trx, accountId, {
    removed,
    changed: changedLifts,
    logIds: new Set(workouts.map(({ id }) => id))
  })
  return changedLifts
}
