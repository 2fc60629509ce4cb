import type { Db } from '../schema.ts'

export async function reportIssue (db: Db, { email, description }: { email: string, description: string }) {
  await db.insertInto('issue_reports').values({ email, description }).execute()
}
