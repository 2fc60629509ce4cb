import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { NotificationNotFound } from '../errors.ts'
import { messageKey } from '../notifications/registry.ts'
import { lockUnreadCounts, removeNotifications, tombstone } from '../notifications/withdraw.ts'
import type { Db, Trx } from '../tables.ts'

/** Marks the notifications with these ids as read, or all without ids; returns how many were unread. */
export async function markNotificationsRead (db: Db, accountId: string, ids?: string[]) {
  return await db.transaction().execute(async (trx) =>
    await markRead(trx, accountId, ids ? sql`listed and id = any(${ids}::uuid[])` : sql`listed`)
  )
}

/**
 * Marks the notifications of messages as read that were read in their chat. A message event that arrives later creates
 * no notification.
 */
export async function markMessagesRead (db: Db, { readerId, messageIds }: { readerId: string, messageIds: string[] }) {
  // In the order in which notifications are inserted.
  const dedupeKeys = messageIds.map(messageKey).sort()
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('notifications').values(
      dedupeKeys.map((dedupeKey) => tombstone({ accountId: readerId, kind: 'messageReceived', dedupeKey }))
    )
      .onConflict((conflict) => conflict.columns(['account_id', 'dedupe_key']).doNothing())
      .execute()
    await markRead(trx, readerId, sql`dedupe_key = any(${dedupeKeys}::text[])`)
  })
}

/** Marks unread notifications that match `condition` as read; returns how many of them were in the inbox. */
async function markRead (trx: Trx, accountId: string, condition: RawBuilder<SqlBool>) {
  await lockUnreadCounts(trx, [accountId])
  const { rows } = await sql<{ updated: number }>`
    with marked as (
      update notifications set read_at = now()
      where account_id = ${accountId} and removed_at is null and read_at is null and ${condition}
      returning listed
    ), counted as (
      update unread_counts set unread = unread - (select count(*)::integer from marked where listed)
      where account_id = ${accountId}
    )
    select count(*)::integer as updated from marked where listed`.execute(trx)
  return rows[0]?.updated ?? 0
}

/** @throws NotificationNotFound */
export async function deleteNotification (db: Db, accountId: string, id: string) {
  const removed = await db.transaction().execute(async (trx) =>
    await removeNotifications(trx, [accountId], sql`id = ${id} and listed`)
  )
  if (removed === 0) throw new NotificationNotFound()
}
