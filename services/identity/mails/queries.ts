import { sql } from 'kysely'
import type { Db } from '../tables.ts'

interface Page {
  olderThanSeconds: number
  limit: number
  after: string | undefined
}

/** The ids of the requests that are not processed yet. */
export async function listPendingRequests (db: Db, { olderThanSeconds, limit, after }: Page) {
  const requests = await db.selectFrom('mail_requests').select('id')
    .where('created_at', '<=', sql<Date>`now() - make_interval(secs => ${olderThanSeconds})`)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
  return requests.map((request) => request.id)
}
