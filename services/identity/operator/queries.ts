import { UserNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import { listSessions } from '../sessions/queries.ts'

/** @throws UserNotFound */
export async function listSessionsOf (db: Db, email: string) {
  const account = await db.selectFrom('accounts').where('email', '=', email.toLowerCase()).select('id')
    .executeTakeFirst()
  if (!account) throw new UserNotFound()
  return await listSessions(db, account.id)
}

/** The latest reported problems, newest first. */
export async function listIssues (db: Db) {
  return await db.selectFrom('issue_reports').select(['created_at as at', 'email', 'description']).orderBy('id', 'desc')
    .limit(50).execute()
}
