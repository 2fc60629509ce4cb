import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Deps } from '../deps.ts'
import { NotificationNotFound } from '../errors.ts'
import { messageKey } from '../notifications/registry.ts'
import { lockUnreadCounts, removeNotifications, tombstone } from '../notifications/withdraw.ts'
import { changeInbox, logFrames } from '../frames/log.ts'
import type { Trx } from '../tables.ts'

type InboxDeps = Pick<Deps, 'db' | 'wakeUp'>

const MAX_IDS_PER_FRAME = 500

interface ReadMessages {
  matchId: string
  readerId: string
  senderId?: string
  messageIds: string[]
}

/** Marks the notifications with these ids as read, or all without ids; returns how many were unread. */
export async function markNotificationsRead (deps: InboxDeps, accountId: string, ids?: string[]) {
  return await changeInbox(deps, async (trx) => {
    await lockUnreadCounts(trx, [accountId])
    return await markRead(trx, accountId, ids ? sql`listed and id = any(${ids}::uuid[])` : sql`listed`)
  })
}

/**
 * Marks the notifications of messages as read that were read in their chat. A message event that arrives later creates
 * no notification.
 */
export async function markMessagesRead (
  deps: InboxDeps,
  { matchId, readerId, senderId, messageIds }: ReadMessages,
  at: Date
) {
  // In the order in which notifications are inserted.
  const dedupeKeys = messageIds.map(messageKey).sort()
  await changeInbox(deps, async (trx) => {
    await trx.insertInto('notifications').values(
      dedupeKeys.map((dedupeKey) => tombstone({ accountId: readerId, kind: 'messageReceived', dedupeKey }))
    )
      .onConflict((conflict) => conflict.columns(['account_id', 'dedupe_key']).doNothing())
      .execute()
    const people = [readerId, ...senderId ? [senderId] : []]
    // Both at once: the reader first and then the sender could deadlock with a message between them.
    await lockUnreadCounts(trx, people)
    await markRead(trx, readerId, sql`dedupe_key = any(${dedupeKeys}::text[])`)
    const frame = {
      type: 'messages.read' as const,
      ids: { matchId, readerId, messageIds },
      key: `read:${dedupeKeys[0] ?? matchId}`,
      at
    }
    await logFrames(trx, people.map((accountId) => ({ accountId, ...frame })))
  })
}

/**
 * Marks unread notifications that match `condition` as read, with the unread count locked; returns how many of them were
 * in the inbox.
 */
async function markRead (trx: Trx, accountId: string, condition: RawBuilder<SqlBool>) {
  const { rows } = await sql<{ readIds: string[] | null }>`
    with marked as (
      update notifications set read_at = now()
      where account_id = ${accountId} and removed_at is null and read_at is null and ${condition}
      returning id, listed
    ), counted as (
      update unread_counts set unread = unread - (select count(*)::integer from marked where listed)
      where account_id = ${accountId}
    )
    select array_agg(id) as "readIds" from marked where listed`.execute(trx)
  const readIds = rows[0]?.readIds ?? []
  if (readIds.length > 0) {
    // A longer list would make a frame that no page can hold.
    const ids = { readIds: readIds.length > MAX_IDS_PER_FRAME ? null : readIds, removedIds: [] }
    await logFrames(trx, [{ accountId, type: 'notifications.changed', ids }])
  }
  return readIds.length
}

/** @throws NotificationNotFound */
export async function deleteNotification (deps: InboxDeps, accountId: string, id: string) {
  const removed = await changeInbox(
    deps,
    async (trx) => await removeNotifications(trx, [accountId], sql`id = ${id} and listed`)
  )
  if (removed === 0) throw new NotificationNotFound()
}
