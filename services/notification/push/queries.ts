import { textsOf } from '@tandem/brand-kit'
import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import { sql } from 'kysely'
import { lookupArray } from '@tandem/database-kit'
import { isNotHidden } from '@tandem/account-kit'
import { MAX_LEASE_WAIT_MS, type Job } from '@tandem/queue-kit'
import { paginate, type Page } from '@tandem/http-kit'
import { isAboutAccount, kinds, type Kind } from '../texts/kinds.ts'
import type { NotificationType } from '../texts/types.ts'
import { isOfHiddenPeople, unreadCountsOf, visibleActor, visibleOthersCount } from '../notifications/shown.ts'
import { hasBlockBetween } from '../notifications/recipients.ts'
import type { Db, DeliveryStatus, Params, Platform } from '../tables.ts'
import { renderText } from '../texts/texts.ts'

/** How long a process owns a delivery that it claimed: longer than two attempts at the provider can take. */
const LEASE_SECONDS = 30

export interface ClaimedDelivery {
  id: string
  notificationId: string
  accountId: string
  deviceId: string
  platform: Platform
  lowPriority: boolean
  attempts: number
  wasHeld: boolean
  /** Seconds since it could have been sent: since its due time if it was held, else since it was created. */
  delaySeconds: number
}

/**
 * Claims deliveries for this worker. Undefined stands for those that are not due, are finished, or that another worker
 * owns.
 */
export async function claimDeliveries (db: Db, ids: string[]): Promise<(ClaimedDelivery | undefined)[]> {
  const { rows } = await sql<ClaimedDelivery>`
    update deliveries set
      attempts = attempts + 1, claimed_until = now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})
    where id = any(${lookupArray(ids, 'uuid')}::uuid[]) and status in ('pending', 'held') and due_at <= now()
      and (claimed_until is null or claimed_until < now())
    returning id, notification_id as "notificationId", account_id as "accountId", device_id as "deviceId", platform,
      low_priority as "lowPriority", attempts, status = 'held' as "wasHeld",
      extract(epoch from now() - case when status = 'held' then due_at else created_at end)::float8 as "delaySeconds"`
    .execute(db)
  const claimed = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => {
    const delivery = claimed.get(id)
    // If a batch names an id twice, only one of the two gets it.
    claimed.delete(id)
    return delivery
  })
}

/** What a push shows, and whether it is still to be sent. */
export interface PushContent {
  /** Null if the device was deleted or has another owner. */
  token: string | null
  kind: Kind
  type: NotificationType
  data: Record<string, string>
  params: Params
  othersCount: number
  isRead: boolean
  isRemoved: boolean
  isBlocked: boolean
  /** Whether nobody is to be notified: the recipient, or everybody who acted, is hidden. */
  isHidden: boolean
  /** Whether the recipient does not want pushes. */
  isUnwanted: boolean
  /** Whether the recipient does not want pushes of its category. */
  isMuted: boolean
  /** Whether it is of a broadcast that an operator has stopped. */
  isStopped: boolean
  actorId: string | null
  actorName: string | null
  locale: string | null
  timezone: string | null
  unread: number
}

/** Whether the recipient of a row of `notifications` is in a block with the people that it is about. */
const isBlocked = sql<boolean>`(
  ${hasBlockBetween(sql`notifications.account_id`, sql`notifications.actor_id`)}
  or ${hasBlockBetween(sql`notifications.account_id`, sql`notifications.owner_id`)})`

const isStopped = sql<boolean>`(kind = 'broadcast' and exists (
  select from broadcasts where broadcasts.id = (data ->> 'broadcastId')::uuid and stopped_at is not null))`

const kindsAboutAccount = (Object.keys(kinds) as Kind[]).filter(isAboutAccount)

/** Reads what the pushes of deliveries show. Undefined stands for those whose notification was deleted. */
export async function readPushContents (db: Db, ids: string[]): Promise<(PushContent | undefined)[]> {
  const { rows } = await sql<PushContent & { id: string }>`
    with requested as materialized (
      select * from deliveries where id = any(${lookupArray(ids, 'uuid')}::uuid[])
    ), unread as materialized (${unreadCountsOf(sql`requested`)})
    select deliveries.id, devices.token, kind, type, data, params, ${visibleOthersCount} as "othersCount",
      read_at is not null as "isRead",
      removed_at is not null as "isRemoved",
      ${isBlocked} as "isBlocked",
      coalesce(${isOfHiddenPeople}, false)
        or (kind <> all(${kindsAboutAccount}::text[]) and not ${
    isNotHidden(sql`notifications.account_id`)
  }) as "isHidden",
      people.push_notifications is false as "isUnwanted",
      coalesce(preferences.categories -> type ->> 'push' = 'false', false) as "isMuted",
      ${isStopped} as "isStopped",
      shown.actor_id as "actorId", actor.name as "actorName", people.locale, people.timezone,
      unread.count as unread
    from requested as deliveries
    join unread on unread.account_id = deliveries.account_id
    join notifications on notifications.id = notification_id
    cross join lateral (select ${visibleActor} as actor_id) shown
    left join devices on devices.id = deliveries.device_id and devices.account_id = notifications.account_id
    left join people on people.account_id = notifications.account_id
    left join preferences on preferences.account_id = notifications.account_id
    left join people actor on actor.account_id = shown.actor_id`.execute(db)
  const contents = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => contents.get(id))
}

const MAX_GONE_IDS = 20

/** The newest notifications that were pushed to a device, and have been read or removed since. */
export async function listGoneNotifications (db: Db, { accountId, deviceId }: ClaimedDelivery) {
  const rows = await db.selectFrom('deliveries').innerJoin('notifications', 'notifications.id', 'notification_id')
    .where('deliveries.account_id', '=', accountId).where('device_id', '=', deviceId).where('status', '=', 'sent')
    .where(({ eb, or }) => or([eb('read_at', 'is not', null), eb('removed_at', 'is not', null)]))
    .where('kind', '<>', 'inboxChanged')
    .select('notifications.id').orderBy('deliveries.id', 'desc').limit(MAX_GONE_IDS)
    .execute()
  return rows.map(({ id }) => id)
}

export interface DeliveryResult {
  status: DeliveryStatus
  reason: string | null
}

/** Stores the results of pushes. */
export async function finishDeliveries (db: Db, results: (DeliveryResult & { id: string })[]) {
  await sql`
    update deliveries set
      status = result.status, reason = result.reason, claimed_until = null, finished_at = now()
    from unnest(
      ${lookupArray(results.map(({ id }) => id), 'uuid')},
      ${lookupArray(results.map(({ status }) => status), 'text')},
      ${lookupArray(results.map(({ reason }) => reason), 'text')}
    ) as result (id, status, reason)
    where deliveries.id = result.id and deliveries.status in ('pending', 'held')`.execute(db)
}

/** Makes a push wait for another attempt, unless another worker has claimed it since. */
export async function postponeDelivery (db: Db, { id, attempts }: ClaimedDelivery, reason: string, dueAt: Date) {
  await db.updateTable('deliveries')
    .set({ status: 'pending', reason, claimed_until: null, due_at: dueAt })
    .where('id', '=', id).where('attempts', '=', attempts).where('status', 'in', ['pending', 'held'])
    .execute()
}

/**
 * Milliseconds until another attempt to claim a delivery: until it is due and the lease of another worker ends, of which
 * at most `MAX_LEASE_WAIT_MS`. Undefined if it is finished.
 */
export async function findClaimDelayMs (db: Db, id: string): Promise<number | undefined> {
  const { rows: [row] } = await sql<{ dueMs: number, leaseMs: number | null }>`
    select (extract(epoch from due_at - now()) * 1000)::float8 as "dueMs",
      (extract(epoch from claimed_until - now()) * 1000)::float8 as "leaseMs"
    from deliveries where id = ${id} and status in ('pending', 'held')`.execute(db)
  return row && Math.max(row.dueMs, Math.min(row.leaseMs ?? 0, MAX_LEASE_WAIT_MS))
}

interface SweepQuery {
  lowPriority: boolean
  olderThanSeconds: number
  limit: number
  after: string | undefined
}

// Longer than the interval between two sweeps, so that a held delivery is enqueued before it is due.
const LOOKAHEAD_SECONDS = 30
const NIL_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Lists unfinished deliveries in the order of their ids: those that have been due for a while, and held or retried ones
 * that are due soon.
 */
export async function listUnfinishedDeliveries (
  db: Db,
  { lowPriority, olderThanSeconds, limit, after }: SweepQuery
): Promise<Job[]> {
  const { rows } = await sql<{ id: string, delayMs: number }>`
    select id, greatest(0, extract(epoch from due_at - now()) * 1000)::float8 as "delayMs" from deliveries
    where low_priority = ${lowPriority} and status in ('pending', 'held') and id > ${after ?? NIL_ID}
      and due_at <= case when status = 'held' or attempts > 0
        then now() + make_interval(secs => ${sql.lit(LOOKAHEAD_SECONDS)})
        else now() - make_interval(secs => ${olderThanSeconds})
      end
      and (claimed_until is null or claimed_until < now())
    order by id limit ${sql.lit(limit)}`.execute(db)
  return rows
}

interface LogRow {
  id: string
  notificationId: string
  kind: Kind
  type: NotificationType
  params: Params
  othersCount: number
  actorName: string | null
  deviceName: string | null
  platform: Platform
  status: DeliveryStatus
  reason: string | null
  attempts: number
  dueAt: Date
  createdAt: Date
  finishedAt: Date | null
  locale: string | null
  timezone: string | null
}

/**
 * Lists what was and was not pushed to an account, newest first. Ids are UUIDv7, so the last id is the cursor. It names
 * and quotes nobody who is hidden, or in a block with the account, by now.
 */
export async function readPushLog (db: Db, accountId: string, { cursor, limit }: Page, language?: string) {
  const { rows } = await sql<LogRow>`
    select deliveries.id, notification_id as "notificationId", kind, type,
      case when hiding.hides then params - array['displayName', 'excerpt'] else params end as params,
      ${visibleOthersCount} as "othersCount", actor.name as "actorName",
      deliveries.device_name as "deviceName", deliveries.platform, status, reason, attempts, due_at as "dueAt",
      deliveries.created_at as "createdAt", finished_at as "finishedAt", people.locale, people.timezone
    from deliveries
    join notifications on notifications.id = notification_id
    left join people on people.account_id = deliveries.account_id
    cross join lateral (select ${isBlocked} or coalesce(${isOfHiddenPeople}, false) as hides) hiding
    left join people actor on actor.account_id = ${visibleActor} and not hiding.hides
    where deliveries.account_id = ${accountId} ${cursor ? sql`and deliveries.id < ${cursor}` : sql``}
    order by deliveries.id desc limit ${sql.lit(limit + 1)}`.execute(db)
  const { page, nextCursor } = paginate(rows, limit, ({ id }) => id)
  return {
    deliveries: page.map(({ kind, params, othersCount, actorName, locale, timezone, ...row }) => ({
      ...row,
      ...renderText(
        { kind, params, othersCount, actorName },
        language ?? textsOf(locale).locale,
        timezone ?? DEFAULT_TIMEZONE
      )
    })),
    nextCursor
  }
}
