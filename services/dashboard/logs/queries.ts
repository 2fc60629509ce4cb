import { sql } from 'kysely'
import type { Db, LogType } from '../tables.ts'

interface Wanted { type?: LogType, from?: string, to?: string, cursor?: Place, limit: number }

/** Where a page ended: logs are listed by when they were, then by id. */
export interface Place { at: Date, id: string }

/** Logs of an account, newest first. `from` and `to` are days, both included, as they were where the logs were written. */
export async function listLogs (db: Db, accountId: string, { type, from, to, cursor, limit }: Wanted) {
  return await db.selectFrom('logs')
    .where('account_id', '=', accountId)
    .$if(type !== undefined, (logs) => logs.where('type', '=', type as LogType))
    // The days decide; the moments, which no time zone can lie outside of, let the index do the work.
    .$if(from !== undefined, (logs) => logs.where(sql<boolean>`day >= ${from}::date and at >= ${from}::timestamp at time zone 'UTC' - interval '15 hours'`))
    .$if(to !== undefined, (logs) => logs.where(sql<boolean>`day <= ${to}::date and at < ${to}::timestamp at time zone 'UTC' + interval '39 hours'`))
    .$if(cursor !== undefined, (logs) => logs.where(sql<boolean>`(at, id) < (${cursor?.at}, ${cursor?.id})`))
    .select(['id', 'client_id as clientId', 'type', 'at', sql<string>`day::text`.as('day'), 'timezone', 'data'])
    .orderBy('at', 'desc').orderBy('id', 'desc')
    .limit(limit)
    .execute()
}
