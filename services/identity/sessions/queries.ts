import { sql } from 'kysely'
import type { Db } from '../tables.ts'

export const REFRESH_TOKEN_LIFETIME = '30 days'
export const SESSION_LIFETIME = '180 days'

/** The live sessions of an account, last used first. */
export async function listSessions (db: Db, accountId: string) {
  return await db.selectFrom('sessions')
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .where('last_used_at', '>', sql<Date>`now() - ${REFRESH_TOKEN_LIFETIME}::interval`)
    .where('created_at', '>', sql<Date>`now() - ${SESSION_LIFETIME}::interval`)
    .select([
      'id', 'device_info as deviceInfo', 'device_name as deviceName', 'platform', 'app_version as appVersion',
      'ip_address as ipAddress', 'last_used_at as lastUsedAt', 'created_at as createdAt'
    ])
    .orderBy('last_used_at', 'desc')
    .execute()
}

/** Whether a session of the account has not ended yet. */
export async function isLiveSession (db: Db, { accountId, sessionId }: { accountId: string, sessionId: string }) {
  const live = await db.selectFrom('sessions')
    .where('id', '=', sessionId)
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .select('id')
    .executeTakeFirst()
  return live !== undefined
}

/** The ids of sessions that ended after `since`, if their access tokens may still be about, and since when to ask the next time. */
export async function readLatelyEnded (db: Db, since: Date) {
  // Transactions that began earlier may still be going on, for a few seconds at most: what they end is seen the next time.
  const { rows: [{ until } = { until: since }] } = await sql<{ until: Date }>`select now() - interval '10 seconds' as until`.execute(db)
  const ended = await db.selectFrom('sessions')
    .where('ended_at', '>', since)
    .where('ended_at', '>', sql<Date>`now() - interval '20 minutes'`)
    .select('id')
    .execute()
  return { sessions: ended.map((session) => session.id), until }
}
