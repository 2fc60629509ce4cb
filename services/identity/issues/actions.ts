import type { Db } from '../tables.ts'

export async function reportIssue (db: Db, { email, description }: { email: string, description: string }) {
  await db.insertInto('issue_reports').values({ email, description }).execute()
}
