import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { RecordSet } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { serializeByAccount } from '@tandem/service-kit'
import { dayIn } from '../calendar.ts'
import { LogNotFound } from '../errors.ts'
import { lockAccount, recalculate } from '../progress/actions.ts'
import { addLifts, markRecords, deleteLifts, type Lift } from '../records/actions.ts'
import type { Db, LogData, LogType, Trx } from '../tables.ts'
import type { Item, Refused } from './items.ts'
import { liftsOf } from './lifts.ts'

export interface Result { clientId: string | null, id: string | null, status: 'created' | 'updated' | 'rejected', error?: string }

interface Batch { accountId: string, zone: string, read: (Item | Refused)[], spent: IdempotencyKey | undefined }

const inTurn = serializeByAccount()

// Each becomes a notification, and years of training that are brought in at once may hold thousands.
const MAX_RECORDS_PUBLISHED = 20

/**
 * Writes logs by the names their phone gave them, and all that follows from them, in one transaction; of several with one name the last
 * holds. Batches of one account wait for each other, so what they reach together is said once.
 * @returns what became of each item, in their order
 */
export async function writeLogs (db: Db, { accountId, zone, read, spent }: Batch): Promise<Result[]> {
  return await inTurn(accountId, async () => await withIdempotencyKey(db, spent, async (trx) => {
    const items = read.filter((each): each is Item => !isRefused(each))
    const written = items.length === 0 ? [] : await writeItems(trx, accountId, zone, items)
    const results = written.values()
    return read.map((each) => isRefused(each)
      ? { clientId: each.clientId, id: null, status: 'rejected' as const, error: each.error }
      : results.next().value as Result)
  }))
}

const isRefused = (each: Item | Refused): each is Refused => 'error' in each

async function writeItems (trx: Trx, accountId: string, zone: string, items: Item[]): Promise<Result[]> {
  const totals = await lockAccount(trx, accountId)
  const known = await findKnown(trx, accountId, items)
  const writes = [...new Map(items.map((item) => [item.clientId, item])).values()]
    .map((item) => ({ ...item, known: known.get(item.clientId) }))
    .filter((item) => !item.known || changed(item, item.known))
    .map((item) => ({ ...item, ...placeOf(item, zone) }))
  const written = await upsert(trx, accountId, writes)

  const workouts = written.filter((log) => log.type === 'WORKOUT' || known.get(log.clientId)?.type === 'WORKOUT')
  const days = new Set(written.flatMap((log) => [log.day, known.get(log.clientId)?.day ?? log.day]))
  for (const { day } of await relift(trx, accountId, workouts)) days.add(day)
  await recalculate(trx, accountId, totals, [...days])

  const ids = new Map(written.map(({ clientId, id }) => [clientId, id]))
  const seen = new Set(known.keys())
  return items.map(({ clientId }) => {
    const status = seen.has(clientId) ? 'updated' as const : 'created' as const
    seen.add(clientId)
    return { clientId, id: (ids.get(clientId) ?? known.get(clientId)?.id) as string, status }
  })
}

/** Takes a log away and with it what it brought. */
export async function deleteLog (db: Db, accountId: string, logId: string) {
  await inTurn(accountId, async () => await db.transaction().execute(async (trx) => {
    const totals = await lockAccount(trx, accountId)
    const lifts = await deleteLifts(trx, accountId, [logId])
    const log = await trx.deleteFrom('logs').where('id', '=', logId).where('account_id', '=', accountId)
      .returning(sql<string>`day::text`.as('day'))
      .executeTakeFirst()
    if (!log) throw new LogNotFound()
    const judged = await markRecords(trx, accountId, earliest(lifts))
    await recalculate(trx, accountId, totals, [...new Set([log.day, ...judged.map(({ day }) => day)])])
  }))
}

interface Known { id: string, clientId: string, type: LogType, at: Date, day: string, timezone: string, data: LogData }

async function findKnown (trx: Trx, accountId: string, items: Item[]) {
  const rows = await trx.selectFrom('logs')
    .where('account_id', '=', accountId)
    .where('client_id', '=', sql<string>`any(${items.map(({ clientId }) => clientId)}::text[])`)
    .select(['id', 'client_id as clientId', 'type', 'at', sql<string>`day::text`.as('day'), 'timezone', 'data'])
    .execute()
  return new Map<string, Known>(rows.map((row) => [row.clientId, row]))
}

const changed = (item: Item, known: Known) =>
  item.type !== known.type || item.at.getTime() !== known.at.getTime() || !isDeepStrictEqual(item.data, known.data)

/** A log sent again keeps its day unless it was moved: whoever has travelled since does not rewrite his past. */
function placeOf ({ at, known }: Item & { known: Known | undefined }, zone: string) {
  if (known?.at.getTime() === at.getTime()) return { day: known.day, timezone: known.timezone }
  return { day: dayIn(zone, at).toString(), timezone: zone }
}

type Write = Item & { day: string, timezone: string }

async function upsert (trx: Trx, accountId: string, writes: Write[]) {
  if (writes.length === 0) return []
  const { rows } = await sql<{ id: string, clientId: string }>`
    insert into logs (account_id, client_id, type, at, day, timezone, data)
    select ${accountId}, "clientId", type, at, day, timezone, data
    from jsonb_to_recordset(${JSON.stringify(writes)}::jsonb)
      as log ("clientId" text, type text, at timestamptz, day date, timezone text, data jsonb)
    on conflict (account_id, client_id) do update set
      type = excluded.type, at = excluded.at, day = excluded.day, timezone = excluded.timezone, data = excluded.data, updated_at = now()
    returning id, client_id as "clientId"`.execute(trx)
  const ids = new Map(rows.map(({ id, clientId }) => [clientId, id]))
  return writes.map((write) => ({ ...write, id: ids.get(write.clientId) as string }))
}

type Workout = Write & { id: string }

/** Puts the lifts of workouts in the place of their earlier ones, and says the records among them that are new. */
async function relift (trx: Trx, accountId: string, workouts: Workout[]) {
  if (workouts.length === 0) return []
  const gone = await deleteLifts(trx, accountId, workouts.map(({ id }) => id))
  const come = workouts.filter(({ type }) => type === 'WORKOUT').flatMap(liftsOf)
  await addLifts(trx, accountId, come)
  const judged = await markRecords(trx, accountId, earliest([...gone, ...come]))

  const ids = new Set(workouts.map(({ id }) => id))
  const isNew = (lift: Lift) => lift.isRecord && ids.has(lift.logId) && !gone.some((earlier) => earlier.isRecord &&
    earlier.logId === lift.logId && earlier.exerciseKey === lift.exerciseKey && earlier.weightKg === lift.weightKg)
  for (const { exercise, weightKg, reps } of judged.filter(isNew).sort(inOrder).slice(-MAX_RECORDS_PUBLISHED)) {
    await publish(trx, RecordSet, accountId, { accountId, exercise, weightKg, reps })
  }
  return judged
}

const inOrder = (a: Lift, b: Lift) => a.at.getTime() - b.at.getTime() || a.exerciseKey.localeCompare(b.exerciseKey)

/** From when on each exercise's lifts may have changed. */
function earliest (lifts: Pick<Lift, 'exerciseKey' | 'at'>[]) {
  const since = new Map<string, Date>()
  for (const { exerciseKey, at } of lifts) {
    const known = since.get(exerciseKey)
    if (!known || at < known) since.set(exerciseKey, at)
  }
  return since
}
