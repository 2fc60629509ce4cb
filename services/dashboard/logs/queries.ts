import { sql } from 'kysely'
import type { Db, LogData, LogType } from '../tables.ts'

interface LogFilter {
  type?: LogType
  from?: string
  to?: string
  cursor?: LogPosition
  limit: number
}

/** Where a page ended: logs are ordered by time, then by id. */
export interface LogPosition {
  at: Date
  id: string
}

/** The columns of a log for its owner: of a session its figures, not those of its part. */
export const logColumns = [
  'id',
  sql<string>`coalesce(sent_client_id, client_id)`.as('clientId'),
  'type',
  'at',
  'ends_at as endAt',
  sql<string>`day::text`.as('day'),
  'timezone',
  sql<LogData>`coalesce(session_data, data)`.as('data'),
  'modified_at as modifiedAt',
  'counts',
  'source',
  'external_id as externalId',
  'is_split as isSplit',
  sql<string[]>`coalesce(parts, '{}')`.as('parts')
] as const

// `day` decides. The bounds on `at` are wide enough for every time zone and let the index narrow the scan.
const isFrom = (day: string) =>
  sql<boolean>`day >= ${day}::date and at >= ${day}::timestamp at time zone 'UTC' - interval '15 hours'`
const isUntil = (day: string) =>
  sql<boolean>`day <= ${day}::date and at < ${day}::timestamp at time zone 'UTC' + interval '39 hours'`

/**
 * What counts of the logs of an account, newest first. `from` and `to` are calendar days in the time zone of each log,
 * both included.
 */
export async function listLogs (db: Db, accountId: string, { type, from, to, cursor, limit }: LogFilter) {
  return await db.selectFrom('logs')
    .where('account_id', '=', accountId)
    .where('counts', '=', true)
    .$if(type !== undefined, (logs) => logs.where('type', '=', type as LogType))
    .$if(from !== undefined, (logs) => logs.where(isFrom(from ?? '')))
    .$if(to !== undefined, (logs) => logs.where(isUntil(to ?? '')))
    .$if(cursor !== undefined, (logs) => logs.where(sql<boolean>`(at, id) < (${cursor?.at}, ${cursor?.id})`))
    .select(logColumns)
    .orderBy('at', 'desc').orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

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

/** Where a list of changes ended. All changes of a transaction have the same revision. */
export interface ChangePosition {
  revision: number
  id: string
}

/** The logs and tombstones that changed after a position, in the order of their changes. */
export async function listChanges (
  db: Db,
  accountId: string,
  { after, limit }: { after: ChangePosition, limit: number }
) {
  const logs = await db.selectFrom('logs').where('account_id', '=', accountId)
    .where(sql<boolean>`(revision, id) > (${after.revision}, ${after.id})`)
    .select([...logColumns, 'data', 'revision'])
    .orderBy('revision').orderBy('id')
    .limit(limit)
    .execute()
  const tombstones = await db.selectFrom('deleted_logs').where('account_id', '=', accountId)
    .where(sql<boolean>`(revision, log_id) > (${after.revision}, ${after.id})`)
    .select([
      sql<string>`log_id`.as('id'),
      'type',
      'client_id as clientId',
      sql<true>`true`.as('deleted'),
      'revision'
    ])
    .orderBy('revision').orderBy('log_id')
    .limit(limit)
    .execute()
  return [...logs, ...tombstones]
    .toSorted((one, other) => one.revision - other.revision || (one.id < other.id ? -1 : 1))
    .slice(0, limit)
}

export type Change = Omit<Awaited<ReturnType<typeof listChanges>>[number], 'revision'>
