import { readAccountId } from '../accounts/queries.ts'
import type { Db } from '../tables.ts'
import { listSessions } from '../sessions/queries.ts'

/** @throws UserNotFound */
export const listSessionsOf = async (db: Db, email: string) =>
  await listSessions(db, await readAccountId(db, { email }))

/** The latest reported problems, newest first. */
export async function listIssues (db: Db) {
  return await db.selectFrom('issue_reports').select(['created_at as at', 'email', 'description']).orderBy('id', 'desc')
    .limit(50).execute()
}
