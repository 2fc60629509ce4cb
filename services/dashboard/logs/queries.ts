import { sql } from 'kysely'
import type { Db, LogType } from '../tables.ts'

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

/** The columns of a log, for its owner and to compare it with what a client sends again. */
export const logColumns = [
  'id',
  'client_id as clientId',
  'type',
  'at',
  sql<string>`day::text`.as('day'),
  'timezone',
  'data',
  'modified_at as modifiedAt',
  'counts'
] as const

// `day` decides. The bounds on `at` are wide enough for every time zone and let the index narrow the scan.
const isFrom = (day: string) =>
  sql<boolean>`day >= ${day}::date and at >= ${day}::timestamp at time zone 'UTC' - interval '15 hours'`
const isUntil = (day: string) =>
  sql<boolean>`day <= ${day}::date and at < ${day}::timestamp at time zone 'UTC' + interval '39 hours'`

/** Logs of an account, newest first. `from` and `to` are calendar days in the time zone of each log, both included. */
export async function listLogs (db: Db, accountId: string, { type, from, to, cursor, limit }: LogFilter) {
  return await db.selectFrom('logs')
    .where('account_id', '=', accountId)
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
