import { sql } from 'kysely'
import { digestOfToken } from '../random-tokens.ts'
import type { Db, ExportStatus } from '../tables.ts'

/** The latest export of an account. */
export async function findLatestExport (db: Db, accountId: string) {
  return await db.selectFrom('exports').where('account_id', '=', accountId).select(exportColumns)
    .orderBy('requested_at', 'desc').limit(1).executeTakeFirst()
}

/** The finished export that a mailed link names, also when the link has ended. */
export async function findExportByToken (db: Db, token: string) {
  return await db.selectFrom('exports').where('token_digest', '=', digestOfToken(token))
    .select(['id', 'bytes', 'sha256', sql<boolean>`status = 'READY' and expires_at > now()`.as('isValid')])
    .executeTakeFirst()
}

export const exportColumns = [
  'id',
  // What has expired a moment ago reads as expired, before housekeeping writes it.
  sql<ExportStatus>`
    case when status = 'READY' and expires_at <= now() then 'EXPIRED' else status end`.as('status'),
  'progress',
  'bytes',
  'ready_at as readyAt',
  'expires_at as expiresAt'
] as const
