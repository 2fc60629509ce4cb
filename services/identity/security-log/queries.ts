import { sql } from 'kysely'
import { readAccountId } from '../accounts/queries.ts'
import type { Db } from '../tables.ts'

const MAX_EVENTS = 200

/** The latest security events of an account, newest first. @throws UserNotFound */
export async function listSecurityEventsOf (db: Db, email: string) {
  return await db.selectFrom('security_events').where('account_id', '=', await readAccountId(db, { email }))
    .select([
      'created_at as at',
      'kind',
      'network',
      'session_id as sessionId',
      'request_id as requestId',
      sql<string>`detail::text`.as('detail')
    ])
    .orderBy('created_at', 'desc')
    .limit(MAX_EVENTS)
    .execute()
}
