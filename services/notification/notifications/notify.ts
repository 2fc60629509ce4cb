import { sql } from 'kysely'
import type { WakeUpSignal } from '@tandem/contracts/realtime'
import type { Correlation } from '@tandem/process-kit'
import { logFrames } from '../frames/log.ts'
import type { Trx } from '../tables.ts'
import { typeOf } from '../texts/kinds.ts'
import { framesOf } from './frames.ts'
import { planNotification, type DeliveryJob, type NotificationRequest, type PlannedNotification } from './plan.ts'
import type { Recipient } from './recipients.ts'
import { hasEnded, isSubjectDeleted, isTextOutdated, lockUnreadCounts } from './withdraw.ts'

/** What to notify of, and the people that `findRecipients` returned for it. */
export interface AddressedRequest {
  request: NotificationRequest
  recipients: Recipient[]
  occurredAt: Date
  /** Before this time no push is sent, for this reason. */
  hold?: { until: Date, reason: string }
  /** The event or request that caused it; by default that of the code that enqueues the pushes. */
  correlation?: Correlation
  /** Whether its pushes wait for all others. */
  lowPriority?: boolean
}

export interface Notified {
  /** Notifications that are new. Those about something that was deleted are left out. */
  created: { id: string, accountId: string }[]
  /** The connections to wake after the commit. */
  signal: WakeUpSignal
  /** The deliveries to enqueue after the commit. */
  deliveries: DeliveryJob[]
}

/**
 * Creates notifications, their deliveries and realtime frames, and counts them as unread, within the transaction of the
 * caller. `changeInbox` wakes connections and workers after the commit. A repeated request creates nothing, and returns
 * the deliveries that are unfinished: the process that created them may have crashed before it enqueued them.
 */
export async function notify (trx: Trx, requests: AddressedRequest[], now: Date): Promise<Notified> {
  const plans = requests.flatMap(({ request, recipients, ...others }) =>
    recipients.map((recipient) => planNotification(request, recipient, { ...others, now }))
  )
  const frames = plans.flatMap(framesOf)
  await lockUnreadCounts(trx, [...plans, ...frames].map(({ accountId }) => accountId))

  const created = await insertNotifications(trx, plans)
  const createdIds = new Set(created.map(({ id }) => id))
  await insertDeliveries(trx, plans.filter(({ notificationId }) => createdIds.has(notificationId)))
  await countUnread(trx, created.filter(({ listed }) => listed).map(({ accountId }) => accountId))
  // Of all: a message that was read before its event arrived has no notification, but is shown to other devices.
  const signal = await logFrames(trx, frames)
  return { created, signal, deliveries: await listUnfinished(trx, plans) }
}

interface Created {
  id: string
  accountId: string
  listed: boolean
}

async function insertNotifications (trx: Trx, plans: PlannedNotification[]): Promise<Created[]> {
  if (plans.length === 0) return []
  const rows = plans.map(({ notificationId, accountId, listed, occurredAt, request }) => ({
    id: notificationId,
    account_id: accountId,
    dedupe_key: request.dedupeKey,
    kind: request.kind,
    type: typeOf(request.kind),
    actor_id: request.actorId,
    subject_id: request.subjectId,
    data: request.data ?? {},
    params: request.params ?? {},
    listed,
    occurred_at: occurredAt
  }))
  const { rows: created } = await sql<Created>`
    insert into notifications (
      id, account_id, dedupe_key, kind, type, actor_id, subject_id, data, params, listed, occurred_at
    )
    select id, account_id, dedupe_key, kind, type, actor_id, subject_id, data,
      case when ${isTextOutdated(sql`planned.subject_id`, sql`planned.occurred_at`)}
        then params || '{"excerpt": null}' else params end,
      listed, occurred_at
    from json_populate_recordset(null::notifications, ${JSON.stringify(rows)}) planned
    where not ${isSubjectDeleted(sql`planned.subject_id`, sql`planned.data`)}
      and not ${hasEnded(sql`planned.subject_id`, sql`planned.account_id`, sql`planned.occurred_at`)}
    on conflict (account_id, dedupe_key) do nothing
    returning id, account_id as "accountId", listed`.execute(trx)
  return created
}

async function insertDeliveries (trx: Trx, plans: PlannedNotification[]) {
  const rows = plans.flatMap(({ notificationId, accountId, lowPriority, deliveries }) =>
    deliveries.map((each) => ({
      id: each.id,
      notification_id: notificationId,
      account_id: accountId,
      device_id: each.deviceId,
      device_name: each.deviceName,
      platform: each.platform,
      low_priority: lowPriority,
      status: each.status,
      reason: each.reason,
      due_at: each.dueAt
    }))
  )
  if (rows.length === 0) return
  await sql`
    insert into deliveries (
      id, notification_id, account_id, device_id, device_name, platform,
      low_priority, status, reason, due_at, finished_at
    )
    select id, notification_id, account_id, device_id, device_name, platform,
      low_priority, status, reason, due_at, case when status = 'muted' then now() end
    from json_populate_recordset(null::deliveries, ${JSON.stringify(rows)})`.execute(trx)
}

/** Counts one more for each of these accounts; an account may occur several times. */
async function countUnread (trx: Trx, accountIds: string[]) {
  if (accountIds.length === 0) return
  await sql`
    insert into unread_counts (account_id, unread)
    select account_id, count(*) from unnest(${accountIds}::uuid[]) as listed (account_id)
    group by account_id order by account_id
    on conflict (account_id) do update set unread = unread_counts.unread + excluded.unread`.execute(trx)
}

/** The deliveries that are to be sent, of notifications that are new or existed before. */
async function listUnfinished (trx: Trx, plans: PlannedNotification[]): Promise<DeliveryJob[]> {
  if (plans.length === 0) return []
  const { rows } = await sql<DeliveryJob & { key: string }>`
    select deliveries.id, due_at as "dueAt", low_priority as "lowPriority",
      notifications.account_id || ' ' || dedupe_key as key
    from deliveries join notifications on notifications.id = notification_id
    where status in ('pending', 'held') and (notifications.account_id, dedupe_key) in (
      select * from unnest(
        ${plans.map(({ accountId }) => accountId)}::uuid[],
        ${plans.map(({ request }) => request.dedupeKey)}::text[]
      )
    )`.execute(trx)
  const correlations = new Map(plans.map((plan) => [`${plan.accountId} ${plan.request.dedupeKey}`, plan.correlation]))
  return rows.map(({ key, ...delivery }) => ({ ...delivery, correlation: correlations.get(key) }))
}
