import type { Db } from '../tables.ts'

/** The accounts at providers that sign in to an account, the oldest first. */
export async function listLinks (db: Db, accountId: string) {
  return await db.selectFrom('provider_links').where('account_id', '=', accountId)
    .select(['provider', 'created_at as linkedAt']).orderBy('created_at').execute()
}
