import { sql } from 'kysely'
import type { PendingQuery } from '@tandem/queue-kit'
import type { Db } from '../tables.ts'

/** The ids of the requests that are not processed yet. */
export async function listPendingRequests (db: Db, { olderThanSeconds, limit, after }: PendingQuery) {
  const requests = await db.selectFrom('mail_requests').select('id')
    .where('created_at', '<=', sql<Date>`now() - make_interval(secs => ${olderThanSeconds})`)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
  return requests.map((request) => request.id)
}
