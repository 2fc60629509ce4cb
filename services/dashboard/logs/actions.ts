import { sql } from 'kysely'
import { claimOnce } from '@tandem/bus-kit'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { serializeByAccount } from '@tandem/http-kit'
import { countActivity } from '../achievements/actions.ts'
import { LogNotFound } from '../errors.ts'
import { lockAccount, type LockedTotals } from '../progress/actions.ts'
import type { Db, Trx } from '../tables.ts'
import { applyChanges, storedColumns, type StoredLog } from './changes.ts'
import { earningsOf, type Earnings } from './earnings.ts'
import { isDeleted, isRejected, type DeletedItem, type Item, type RejectedItem } from './items.ts'
import { DAY_MS } from '../log-types/data.ts'
import { countWritten } from '../log-types/quotas.ts'
import { bury, findTombstones } from './tombstones.ts'
import { currentVersionOf, dayAndZoneOf, hasChanged, replaces, toWrite, versionOf, type Current } from './versions.ts'

export interface ItemResult extends Partial<Earnings> {
  clientId: string | null
  id: string | null
  status: 'created' | 'updated' | 'unchanged' | 'deleted' | 'rejected'
  error?: string
}

interface Batch {
  accountId: string
  zone: string
  parsedItems: (Item | DeletedItem | RejectedItem)[]
  idempotencyKey: IdempotencyKey | undefined
  importId?: string
}

const runSerialized = serializeByAccount()

/**
 * Upserts and deletes logs by their ids and updates everything derived from them, in one transaction. Of several
 * versions of a log the one with the latest `modifiedAt` wins; without it, the last. Batches of one account run one
 * after the other, so every level, record and achievement is published once.
 * @returns the result of each item, in the order of the items
 */
export async function writeLogs (
  db: Db,
  { accountId, zone, parsedItems, idempotencyKey, importId }: Batch
): Promise<ItemResult[]> {
  return await runSerialized(accountId, async () =>
    await withIdempotencyKey(db, idempotencyKey, async (trx) => {
      const items = parsedItems.filter((item): item is Item | DeletedItem => !isRejected(item))
      const written = items.length === 0 ? [] : await writeItems(trx, accountId, { zone, items, importId })
      const results = written.values()
      return parsedItems.map((item) =>
        isRejected(item)
          ? { clientId: item.clientId, id: null, status: 'rejected' as const, error: item.error }
          : results.next().value as ItemResult
      )
    }))
}

/** Writes or deletes what the items say, as far as they are no older than what is known. */
async function writeItems (trx: Trx, accountId: string, { zone, items, importId }: {
  zone: string,
  items: (Item | DeletedItem)[],
  importId?: string | undefined
}): Promise<ItemResult[]> {
  const totals = await lockAccount(trx, accountId)
  const keys = [...new Set(items.map(({ key }) => key))]
  const stored = await findStored(trx, accountId, keys)
  const tombstones = await findTombstones(trx, accountId, keys)
  const current = new Map<string, Current>(
    keys.map((key) => [key, { stored: stored.get(key), tombstone: tombstones.get(key) }])
  )
  const outdated = new Set<Item | DeletedItem>()
  for (const item of items) {
    const known = current.get(item.key) as Current
    // What a file says without a time is older than an edit.
    const isEdited = importId !== undefined && item.modifiedAt === undefined && known.stored?.modifiedAt
    if (!isEdited && replaces(versionOf(item), currentVersionOf(known))) known.item = item
    else outdated.add(item)
  }

  const replaced = [...current.values()]
  const deletions = replaced.map(({ item }) => item).filter((item) => item !== undefined && isDeleted(item))
  const writes = replaced.flatMap(({ item, stored }) =>
    item && !isDeleted(item) && (!stored || hasChanged(item, stored, zone)) ?
      [toWrite(item, stored, { zone, importId, restoredId: tombstones.get(item.key)?.logId ?? null })] :
      []
  )
  // The file of an import has limits of its own.
  if (importId === undefined) {
    await countWritten(trx, accountId, { data: writes.map((write) => write.data), tombstones: deletions.length })
  }
  const before = writes.flatMap(({ key }) => stored.get(key) ?? [])
  const deleted = deletions.flatMap(({ key }) => stored.get(key) ?? [])
  const restored = writes.filter(({ key }) => tombstones.has(key))
  await bury(trx, accountId, { deletions, deleted, restored, revision: totals.revision + 1 })
  const changes = await applyChanges(trx, accountId, totals, { writes, before, deleted })

  const earnings = earningsOf(changes)
  const ids = new Map(changes.written.map(({ key, id }) => [key, id]))
  const seen = new Set(stored.keys())
  return items.map((item) => {
    const { key, clientId } = item
    const id = ids.get(key) ?? stored.get(key)?.id ?? null
    if (outdated.has(item)) return { clientId, id: tombstones.has(key) ? null : id, status: 'unchanged' }
    if (isDeleted(item)) return { clientId, id, status: 'deleted' }
    const last = current.get(key)?.item
    if (last && isDeleted(last)) return { clientId, id, status: 'unchanged' }
    const status = seen.has(key) ? 'updated' as const : 'created' as const
    seen.add(key)
    // Of several items of a log only the one that was written earned something.
    return {
      clientId,
      id,
      status,
      ...(item === last ? earnings(key) : { xp: 0, level: changes.gains.level, records: [] })
    }
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
            log('client_id', '=', item.key),
            log.and([
              log('type', '=', 'WORKOUT'),
              // No log lasts longer than a day.
              log('at', '>', new Date(item.at.getTime() - DAY_MS)),
              log('at', '<', item.endsAt),
              sql<boolean>`at + make_interval(mins => (data ->> 'durationMinutes')::int) > ${item.at}`
            ])
          ])
        )
        .select('id').limit(1)
        .executeTakeFirst()
      if (!existing) await writeItems(trx, accountId, { zone, items: [item] })
    }))
}

/**
 * Logs a workout of a program day, once for each of its days: a repeat changes nothing. After a deletion, which is final
 * for its name, it gets the next one.
 * @returns its client id
 */
export async function logPlannedWorkout (
  db: Db,
  { accountId, zone, programDayId, item }: { accountId: string, zone: string, programDayId: string, item: Item }
) {
  const { day } = dayAndZoneOf(item, undefined, zone)
  return await runSerialized(accountId, async () =>
    await db.transaction().execute(async (trx) => {
      await lockAccount(trx, accountId)
      const key = await findFreeKey(trx, accountId, `program:${programDayId}:${day}`)
      const stored = await findStored(trx, accountId, [key])
      if (!stored.has(key)) await writeItems(trx, accountId, { zone, items: [{ ...item, key, clientId: key }] })
      return key
    }))
}

/** The key, or the first of those with a number behind it, that was not deleted. */
async function findFreeKey (trx: Trx, accountId: string, key: string) {
  const tombstones = await trx.selectFrom('deleted_logs').where('account_id', '=', accountId)
    .where('is_undone', '=', false)
    .where(sql<boolean>`starts_with(client_id, ${key})`)
    .select('client_id')
    .execute()
  const deleted = new Set(tombstones.map((tombstone) => tombstone.client_id))
  let free = key
  for (let number = 2; deleted.has(free); number++) free = `${key}:${number}`
  return free
}

/** Deletes a log for good and updates everything derived from it. A repeated upload does not create it again. */
export async function deleteLog (db: Db, accountId: string, logId: string) {
  await changeLog(db, { accountId, logId }, async (trx, totals, log) => {
    const deletion = { key: log.key, modifiedAt: undefined }
    await bury(trx, accountId, { deletions: [deletion], deleted: [log], revision: totals.revision + 1 })
    await applyChanges(trx, accountId, totals, { writes: [], before: [], deleted: [log] })
  })
}

/** Takes a workout out of its session for good: it counts on its own, also after it is sent again. */
export async function splitLog (db: Db, accountId: string, logId: string) {
  await changeLog(db, { accountId, logId }, async (trx, totals, log) => {
    if (log.type !== 'WORKOUT') throw new LogNotFound()
    if (log.isSplit) return
    await trx.updateTable('logs').where('id', '=', logId)
      .set({ is_split: true, revision: totals.revision + 1 })
      .execute()
    await applyChanges(trx, accountId, totals, { writes: [], before: [log], deleted: [] })
  })
}

/** Deletes some of the logs that an import created; they can be imported again. Returns how many they are. */
export async function deleteImportedLogs (
  db: Db,
  { accountId, importId, limit }: { accountId: string, importId: string, limit: number }
) {
  return await runSerialized(accountId, async () =>
    await db.transaction().execute(async (trx) => {
      const totals = await lockAccount(trx, accountId)
      const deleted = await trx.selectFrom('logs').where('import_id', '=', importId)
        .where('account_id', '=', accountId)
        .select(storedColumns).limit(limit)
        .execute()
      const revision = totals.revision + 1
      await bury(trx, accountId, {
        deletions: deleted.map(({ key }) => ({ key })),
        deleted,
        revision,
        isUndone: true
      })
      await applyChanges(trx, accountId, totals, { writes: [], before: [], deleted })
      return deleted.length
    }))
}

async function changeLog (
  db: Db,
  { accountId, logId }: { accountId: string, logId: string },
  change: (trx: Trx, totals: LockedTotals, log: StoredLog) => Promise<void>
) {
  await runSerialized(accountId, async () =>
    await db.transaction().execute(async (trx) => {
      const totals = await lockAccount(trx, accountId)
      const log = await trx.selectFrom('logs').where('id', '=', logId).where('account_id', '=', accountId)
        .select(storedColumns)
        .executeTakeFirst()
      if (!log) throw new LogNotFound()
      await change(trx, totals, log)
    }))
}

async function findStored (trx: Trx, accountId: string, keys: string[]) {
  const rows = await trx.selectFrom('logs')
    .where('account_id', '=', accountId)
    .where('client_id', '=', sql<string>`any(${keys}::text[])`)
    .select(storedColumns)
    .execute()
  return new Map<string, StoredLog>(rows.map((row) => [row.key, row]))
}
