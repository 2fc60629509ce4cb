import { sql } from 'kysely'
import type { Db } from '../tables.ts'

export async function saveDraft (db: Db, accountId: string, state: Record<string, unknown>) {
  const savedAt = new Date()
  const draft = { ...state, savedAt: savedAt.toISOString() }
  const row = { draft: JSON.stringify(draft), saved_at: savedAt }
  await db.insertInto('setup_drafts').values({ account_id: accountId, ...row })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
    .execute()
  return draft
}

export async function deleteDraft (db: Db, accountId: string) {
  await db.deleteFrom('setup_drafts').where('account_id', '=', accountId).execute()
}

/** Returns whether there was a profile to store it in. */
export async function markTutorialSeen (db: Db, accountId: string) {
  const updated = await db.updateTable('profiles').set({ tutorial_seen: true, updated_at: sql`now()` })
    .where('account_id', '=', accountId)
    .returning('id')
    .executeTakeFirst()
  return updated !== undefined
}
