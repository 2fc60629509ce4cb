import { sql } from 'kysely'
import type { Db } from '../tables.ts'

export const REFRESH_TOKEN_LIFETIME = '30 days'
export const SESSION_LIFETIME = '180 days'

/** The active sessions of an account, last used first. */
export async function listSessions (db: Db, accountId: string) {
  return await db.selectFrom('sessions')
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .where('last_used_at', '>', sql<Date>`now() - ${REFRESH_TOKEN_LIFETIME}::interval`)
    .where('created_at', '>', sql<Date>`now() - ${SESSION_LIFETIME}::interval`)
    .select([
      'id',
      'device_info as deviceInfo',
      'device_name as deviceName',
      'platform',
      'app_version as appVersion',
      'ip_address as ipAddress',
      'last_used_at as lastUsedAt',
      'created_at as createdAt'
    ])
    .orderBy('last_used_at', 'desc')
    .execute()
}

/** Whether a session of the account has not ended yet. */
export async function isActiveSession (db: Db, { accountId, sessionId }: { accountId: string, sessionId: string }) {
  const active = await db.selectFrom('sessions')
    .where('id', '=', sessionId)
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .select('id')
    .executeTakeFirst()
  return active !== undefined
}

/**
 * The ids of the sessions that ended after `since` and whose access tokens may not have expired, and the `since` of the
 * next poll.
 */
export async function listRecentlyEnded (db: Db, since: Date) {
  // Transactions that started earlier may commit up to a few seconds late. The next poll overlaps and sees the sessions
  // that they end.
  const { rows: [{ until } = { until: since }] } = await sql<
    { until: Date }
  >`select now() - interval '10 seconds' as until`.execute(db)
  const ended = await db.selectFrom('sessions')
    .where('ended_at', '>', since)
    .where('ended_at', '>', sql<Date>`now() - interval '20 minutes'`)
    .select('id')
    .execute()
  return { sessions: ended.map((session) => session.id), until }
}
