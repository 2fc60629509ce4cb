import { sql } from 'kysely'
import type { WakeUpSignal } from '@tandem/contracts/realtime'
import type { Correlation } from '@tandem/process-kit'
import { logFrames } from '../frames/log.ts'
import type { Trx } from '../tables.ts'
import { isOffered, typeOf } from '../texts/kinds.ts'
import { framesOf } from './frames.ts'
import { planNotification, type DeliveryJob, type NotificationRequest, type PlannedNotification } from './plan.ts'
import { hasBlockBetween, type Recipient } from './recipients.ts'
import { lockInboxes } from './removal.ts'
import { rewrittenParams } from './rewrite.ts'
import { about } from './subjects.ts'
import { isAlreadyWithdrawn, lockSubjects } from './withdraw.ts'

/** What to notify of, and the people that `findRecipients` returned for it. */
export interface AddressedRequest {
  request: NotificationRequest
  recipients: Recipient[]
  occurredAt: Date
  /** Of the event, which orders the events of one service. */
  sequence?: number
  /** Before this time no push is sent, for this reason. */
  hold?: { until: Date, reason: string }
  /** The event or request that caused it; by default that of the code that enqueues the pushes. */
  correlation?: Correlation
  /** Whether its pushes wait for all others. */
  lowPriority?: boolean
}

export interface Notified {
  /** Notifications that are new, or are back. What later events or blocks have withdrawn is left out. */
  created: { id: string, accountId: string }[]
  /** The connections to wake after the commit. */
  signal: WakeUpSignal
  /** The deliveries to enqueue after the commit. */
  deliveries: DeliveryJob[]
}

/**
 * Creates notifications, their deliveries and realtime frames, within the transaction of the caller. `changeInbox` wakes
 * connections and workers after the commit. A repeated request creates nothing, and returns the deliveries that are
 * unfinished: the process that created them may have crashed before it enqueued them. A newer one with the same key
 * updates the text of a notification, and brings back one that was withdrawn: at the top of the inbox, unread, and pushed
 * only to devices that have not been pushed the first.
 */
export async function notify (trx: Trx, requests: AddressedRequest[], now: Date): Promise<Notified> {
  const offered = requests.filter(({ request }) => isOffered(request.kind))
  const plans = offered.flatMap(({ request, recipients, ...others }) =>
    recipients.map((recipient) => planNotification(request, recipient, { ...others, now }))
  )
  const frames = plans.flatMap(framesOf)
  await lockSubjects(trx, plans.flatMap(({ request }) => subjectsOf(request)), 'SHARED')
  const inboxes = new Set(await lockInboxes(trx, [...plans, ...frames].map(({ accountId }) => accountId)))

  const created = await insertNotifications(trx, plans)
  const createdIds = new Set(created.map(({ id }) => id))
  await insertDeliveries(trx, plans.filter(({ notificationId }) => createdIds.has(notificationId)))
  await insertInboxes(trx, created.map(({ accountId }) => accountId).filter((id) => !inboxes.has(id)))
  await updateRepeated(trx, plans.filter(({ notificationId }) => !createdIds.has(notificationId)))
  // Of all: a message that was read before its event arrived has no notification, but is shown to other devices.
  const signal = await logFrames(trx, frames)
  return {
    created,
    signal,
    deliveries: await listUnfinished(trx, plans.filter(({ deliveries }) => deliveries.length > 0))
  }
}

/** With the people that a block locks, so that none between them and a recipient is stored meanwhile. */
const subjectsOf = ({ subjects = [], actorId, ownerId }: NotificationRequest) => [
  ...subjects,
  ...[actorId, ownerId].filter((person) => person != null).map(about.person)
]

const planned = sql`planned`

/** Of several requests with one key the first counts; `updateRepeated` applies the others. */
async function insertNotifications (trx: Trx, plans: PlannedNotification[]): Promise<Notified['created']> {
  if (plans.length === 0) return []
  const { rows: created } = await sql<Notified['created'][number]>`
    insert into notifications (
      id, account_id, dedupe_key, kind, type, actor_id, owner_id, subjects, sequence, data, params, listed
    )
    select distinct on (account_id, dedupe_key)
      id, account_id, dedupe_key, kind, type, actor_id, owner_id, subjects, sequence, data,
      ${rewrittenParams(planned)}, listed
    from ${populate(plans)} where not ${isAlreadyWithdrawn(planned)}
      and not ${hasBlockBetween(sql`planned.account_id`, sql`planned.actor_id`)}
      and not ${hasBlockBetween(sql`planned.account_id`, sql`planned.owner_id`)}
    order by account_id, dedupe_key, sequence
    on conflict (account_id, dedupe_key) do update set
      id = excluded.id, kind = excluded.kind, type = excluded.type, actor_id = excluded.actor_id,
      owner_id = excluded.owner_id, subjects = excluded.subjects, sequence = excluded.sequence, data = excluded.data,
      params = excluded.params, listed = excluded.listed, created_at = now(), others_count = 0,
      removed_at = null, withdrawn = false
      where notifications.withdrawn and notifications.sequence < excluded.sequence
    returning id, account_id as "accountId"`.execute(trx)
  return created
}

/**
 * Gives notifications the text of a newer event with the same key. What a comment is for somebody stays what the first
 * event said; a booking has the words of its producer or ours, as the newest event has it.
 */
async function updateRepeated (trx: Trx, plans: PlannedNotification[]) {
  if (plans.length === 0) return
  await sql`
    update notifications set sequence = newest.sequence, params = newest.params, kind = newest.kind
    from (
      select distinct on (account_id, dedupe_key, kind) account_id, dedupe_key, kind, sequence,
        ${rewrittenParams(planned)} as params
      from ${populate(plans)} order by account_id, dedupe_key, kind, sequence desc
    ) newest
    where notifications.account_id = newest.account_id and notifications.dedupe_key = newest.dedupe_key
      and (notifications.kind = newest.kind or type = 'BOOKING')
      and not withdrawn and notifications.sequence < newest.sequence`.execute(trx)
}

/** Plans as rows of `notifications`. */
function populate (plans: PlannedNotification[]) {
  const rows = plans.map(({ notificationId, accountId, listed, sequence, request }) => ({
    id: notificationId,
    account_id: accountId,
    dedupe_key: request.dedupeKey,
    kind: request.kind,
    type: typeOf(request.kind),
    actor_id: request.actorId,
    owner_id: request.ownerId,
    subjects: request.subjects ?? [],
    sequence,
    data: request.data ?? {},
    params: request.params ?? {},
    listed
  }))
  return sql`json_populate_recordset(null::notifications, ${JSON.stringify(rows)}) planned`
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
    from json_populate_recordset(null::deliveries, ${JSON.stringify(rows)})
    on conflict (notification_id, device_id) do update set
      id = excluded.id, status = excluded.status, reason = excluded.reason, due_at = excluded.due_at, attempts = 0,
      created_at = now(), finished_at = excluded.finished_at
      where deliveries.status = 'muted'`.execute(trx)
}

/** Creates the inboxes of accounts that had none. */
async function insertInboxes (trx: Trx, accountIds: string[]) {
  if (accountIds.length === 0) return
  await sql`
    insert into inboxes (account_id) select distinct unnest(${accountIds}::uuid[]) as account_id order by account_id
    on conflict do nothing`.execute(trx)
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
