import type { Db } from './tables.ts'

/**
 * Ends the exports of an account, or one of them, and with them every link to its data. A new password or address does so
 * too, because the old one may be known to somebody else. Their files are deleted by `deleteExpiredFiles`.
 * @returns how many
 */
export async function expireExports (db: Db, which: { account_id: string } | { id: string }) {
  const { numUpdatedRows } = await db.updateTable('exports').set({ status: 'EXPIRED' })
    .where((row) => row.and(which)).where('status', 'in', ['PENDING', 'RUNNING', 'READY']).executeTakeFirst()
  return Number(numUpdatedRows)
}
