import { sql } from 'kysely'
import { bytesOfData } from '../log-types/quotas.ts'
import type { Db, LogData, LogType } from '../tables.ts'
import { formatCursor, parseCursor, type Position } from './cursors.ts'

interface LogFilter {
  type?: LogType
  from?: string
  to?: string
  cursor?: string
  limit: number
}

const columns = [
  'id',
  sql<string>`coalesce(sent_client_id, client_id)`.as('clientId'),
  'type',
  'at',
  'ends_at as endAt',
  sql<string>`day::text`.as('day'),
  'timezone',
  'modified_at as modifiedAt',
  'counts',
  'source',
  'external_id as externalId',
  'is_split as isSplit',
  sql<string[]>`coalesce(parts, '{}')`.as('parts')
] as const

/** The columns of a log for its owner: of a session its figures, not those of its part. */
const logColumns = [...columns, sql<LogData>`coalesce(session_data, data)`.as('data')] as const

// A log has up to 1 MiB, and the gateway passes on 4 MiB at most.
const MAX_PAGE_BYTES = 2 * 1024 * 1024

/** The first of `rows` that fit into a page, and at least one. */
function fitting<Row extends { bytes: number }> (rows: Row[]) {
  let bytes = 0
  return rows.filter((row, index) => {
    bytes += row.bytes
    return index === 0 || bytes <= MAX_PAGE_BYTES
  })
}

// `day` decides. The bounds on `at` are wide enough for every time zone and let the index narrow the scan.
const isFrom = (day: string) =>
  sql<boolean>`day >= ${day}::date and at >= ${day}::timestamp at time zone 'UTC' - interval '15 hours'`
const isUntil = (day: string) =>
  sql<boolean>`day <= ${day}::date and at < ${day}::timestamp at time zone 'UTC' + interval '39 hours'`

/**
 * What counts of the logs of an account, newest first: at most `limit`, or as many as fit into a page. `from` and `to`
 * are calendar days in the time zone of each log, both included.
 * @throws ValidationError for a cursor that is none
 */
export async function listLogs (db: Db, accountId: string, { type, from, to, cursor, limit }: LogFilter) {
  const before = cursor === undefined ? undefined : parseCursor(cursor)
  const found = await db.selectFrom('logs')
    .where('account_id', '=', accountId)
    .where('counts', '=', true)
    .$if(type !== undefined, (logs) => logs.where('type', '=', type as LogType))
    .$if(from !== undefined, (logs) => logs.where(isFrom(from ?? '')))
    .$if(to !== undefined, (logs) => logs.where(isUntil(to ?? '')))
    .$if(
      before !== undefined,
      (logs) => logs.where(sql<boolean>`(at, id) < (${new Date(before!.number)}, ${before!.id})`)
    )
    .select(['id', 'at', sql<number>`coalesce(octet_length(session_data::text), ${bytesOfData})`.as('bytes')])
    .orderBy('at', 'desc').orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const page = fitting(found.slice(0, limit))
  const logs = await db.selectFrom('logs').where('account_id', '=', accountId)
    .where('id', '=', anyId(page))
    .select(logColumns)
    .orderBy('at', 'desc').orderBy('id', 'desc')
    .execute()
  const last = found.length > page.length ? page.at(-1) : undefined
  return { logs, nextCursor: last ? formatCursor({ number: last.at.getTime(), id: last.id }) : null }
}

const anyId = (rows: { id: string }[]) => sql<string>`any(${rows.map(({ id }) => id)}::uuid[])`

/** The log with a client's id. */
export async function findLog (db: Db, accountId: string, clientId: string) {
  return await db.selectFrom('logs').where('account_id', '=', accountId).where('client_id', '=', clientId)
    .select(logColumns)
    .executeTakeFirst()
}

/** A log of an account, whether it counts or not. */
export async function findLogById (db: Db, accountId: string, id: string) {
  return await db.selectFrom('logs').where('account_id', '=', accountId).where('id', '=', id)
    .select(logColumns)
    .executeTakeFirst()
}

const START: Position = { number: -1, id: '00000000-0000-0000-0000-000000000000' }

/**
 * The logs and tombstones that changed after the cursor of an earlier response, in the order of their changes, and the
 * next cursor: at most `limit`, or as many as fit into a page. All changes of a transaction have the same revision.
 * @throws ValidationError for a cursor that is none
 */
export async function readChanges (
  db: Db,
  accountId: string,
  { cursor, limit }: { cursor: string | undefined, limit: number }
) {
  const after = cursor === undefined ? START : parseCursor(cursor)
  const changes = await listChanges(db, accountId, { after, limit })
  const last = changes.at(-1)
  return {
    changes: changes.map(({ revision: _, ...change }) => change),
    cursor: formatCursor(last ? { number: last.revision, id: last.id } : after)
  }
}

async function listChanges (db: Db, accountId: string, { after, limit }: { after: Position, limit: number }) {
  // All statements see the same changes. A tombstone of a later one would move the cursor beyond its logs.
  return await db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(async (trx) => {
    const logs = trx.selectFrom('logs').where('account_id', '=', accountId)
    const changed = await logs
      .where(sql<boolean>`(revision, id) > (${after.number}, ${after.id})`)
      .select(['id', 'revision', bytesOfData.as('bytes')])
      .orderBy('revision').orderBy('id')
      .limit(limit)
      .execute()
    const tombstones = await trx.selectFrom('deleted_logs').where('account_id', '=', accountId)
      // No device knows a log that never arrived.
      .where('log_id', 'is not', null)
      .where(sql<boolean>`(revision, log_id) > (${after.number}, ${after.id})`)
      .select([
        sql<string>`log_id`.as('id'),
        'type',
        sql<string>`coalesce(sent_client_id, client_id)`.as('clientId'),
        sql<true>`true`.as('deleted'),
        'revision'
      ])
      .orderBy('revision').orderBy('log_id')
      .limit(limit)
      .execute()
    const page = fitting(
      [...changed, ...tombstones.map((tombstone) => ({ ...tombstone, bytes: 0 }))]
        .toSorted((one, other) => one.revision - other.revision || (one.id < other.id ? -1 : 1))
        .slice(0, limit)
    )
    const shown = await logs.where('id', '=', anyId(page)).select([...columns, 'data', 'revision']).execute()
    const byId = new Map([...shown, ...tombstones].map((change) => [change.id, change]))
    return page.flatMap(({ id }) => byId.get(id) ?? [])
  })
}

export type Change = Awaited<ReturnType<typeof readChanges>>['changes'][number]
