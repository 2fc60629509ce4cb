import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { WakeUpSignal } from '@tandem/contracts/realtime'
import type { Deps } from '../deps.ts'
import { NotificationNotFound } from '../errors.ts'
import { messageKey } from '../notifications/registry.ts'
import { planBadgeUpdates } from '../notifications/badges.ts'
import { lockInboxes, removeNotifications } from '../notifications/removal.ts'
import { isShown } from '../notifications/shown.ts'
import { tombstone } from '../notifications/withdraw.ts'
import { changeInbox, CHANGED_AT_ONCE, joinChanges } from '../notifications/change-inbox.ts'
import type { DeliveryJob } from '../notifications/plan.ts'
import { logFrames, MAX_IDS_PER_FRAME } from '../frames/log.ts'
import type { Trx } from '../tables.ts'

type InboxDeps = Pick<Deps, 'db' | 'wakeUp' | 'pushes'>

interface ReadMessages {
  matchId: string
  readerId: string
  senderId?: string
  messageIds: string[]
}

/** The account and the session of a request. */
interface Caller {
  id: string
  sessionId: string
}

/** Marks the notifications with these ids as read, or all that are shown; returns how many were unread. */
export async function markNotificationsRead (deps: InboxDeps, { id, sessionId }: Caller, ids?: string[]) {
  let read = 0
  await changeInbox(deps, async (trx) => {
    await lockInboxes(trx, [id])
    const marked = await markRead(trx, id, ids ? sql`${isShown} and id = any(${ids}::uuid[])` : isShown, sessionId)
    read += marked.read
    return marked
  })
  return read
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
  const dedupeKeys = messageIds.map(messageKey).sort()
  const people = [readerId, ...senderId ? [senderId] : []]
  await changeInbox(deps, async (trx) => {
    // Both at once: the reader first and then the sender could deadlock with a message between them.
    await lockInboxes(trx, people)
    await trx.insertInto('notifications').values(
      dedupeKeys.map((dedupeKey) => tombstone({ accountId: readerId, kind: 'messageReceived', dedupeKey }))
    )
      .onConflict((conflict) => conflict.columns(['account_id', 'dedupe_key']).doNothing())
      .execute()
    const marked = await markRead(trx, readerId, sql`dedupe_key = any(${dedupeKeys}::text[])`)
    const frame = {
      type: 'messages.read' as const,
      ids: { matchId, readerId, messageIds },
      key: `read:${dedupeKeys[0] ?? matchId}`,
      at
    }
    const signal = await logFrames(trx, people.map((accountId) => ({ accountId, ...frame })))
    return joinChanges([marked, { signal }])
  })
}

/**
 * Marks unread notifications that match `condition` as read, CHANGED_AT_ONCE at most, with the inbox locked. Returns how
 * many of them were in the inbox, whether there can be others, and what to wake after the commit.
 */
async function markRead (
  trx: Trx,
  accountId: string,
  condition: RawBuilder<SqlBool>,
  sessionId?: string
): Promise<{ read: number, signal: WakeUpSignal, deliveries: DeliveryJob[], hasMore: boolean }> {
  const { rows: marked } = await sql<{ id: string, listed: boolean }>`
    update notifications set read_at = now() where id = any(array(
      select id from notifications
      where account_id = ${accountId} and removed_at is null and read_at is null and ${condition}
      limit ${sql.lit(CHANGED_AT_ONCE)}))
    returning id, listed`.execute(trx)
  const hasMore = marked.length === CHANGED_AT_ONCE
  const readIds = marked.filter(({ listed }) => listed).map(({ id }) => id)
  if (readIds.length === 0) return { read: 0, signal: [], deliveries: [], hasMore }
  const ids = { readIds: readIds.length > MAX_IDS_PER_FRAME ? null : readIds, removedIds: [] }
  return {
    read: readIds.length,
    signal: await logFrames(trx, [{ accountId, type: 'notifications.changed', ids }]),
    deliveries: await planBadgeUpdates(trx, readIds, sessionId),
    hasMore
  }
}

/** @throws NotificationNotFound */
export async function deleteNotification (deps: InboxDeps, { id: accountId, sessionId }: Caller, id: string) {
  const { removed } = await changeInbox(
    deps,
    async (trx) => await removeNotifications(trx, [accountId], sql`id = ${id} and ${isShown}`, { sessionId })
  )
  if (removed === 0) throw new NotificationNotFound()
}
