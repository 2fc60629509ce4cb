import { ExportNotFound } from '../errors.ts'
import { expireExports } from '../expire-exports.ts'
import type { Db } from '../tables.ts'

/** The exports that are not over, the oldest first. */
export async function listExports (db: Db) {
  return await db.selectFrom('exports').where('status', 'in', ['PENDING', 'RUNNING', 'READY'])
    .select(['id', 'account_id as accountId', 'status', 'progress', 'bytes', 'requested_at as requestedAt'])
    .orderBy('requested_at').limit(100).execute()
}

/** Stops an export, or ends its link. @throws ExportNotFound */
export async function cancelExportOf (db: Db, id: string) {
  if (await expireExports(db, { id }) === 0) throw new ExportNotFound()
}
