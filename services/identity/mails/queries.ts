import { sql } from 'kysely'
import type { Db } from '../tables.ts'

interface Wanted { olderThanSeconds: number, limit: number, after: string | undefined }

/** The requests that wait to be carried out. */
export async function listRequests (db: Db, { olderThanSeconds, limit, after }: Wanted) {
  const requests = await db.selectFrom('mail_requests').select('id')
    .where('created_at', '<=', sql<Date>`now() - make_interval(secs => ${olderThanSeconds})`)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
  return requests.map((request) => request.id)
}
