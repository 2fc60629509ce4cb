import type { Db } from '../tables.ts'

export async function findDraft (db: Db, accountId: string) {
  const row = await db.selectFrom('setup_drafts').where('account_id', '=', accountId).select('draft').executeTakeFirst()
  return row?.draft ?? null
}

export async function hasSeenTutorial (db: Db, accountId: string) {
  const row = await db.selectFrom('profiles').where('account_id', '=', accountId).select('tutorial_seen')
    .executeTakeFirst()
  return row?.tutorial_seen ?? false
}
