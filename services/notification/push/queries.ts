import { sql } from 'kysely'
import { paginate, languageOfLocale, type Language, type Page } from '@tandem/service-kit'
import type { Kind, NoticeType } from '../inbox/kinds.ts'
import { areBlocked } from '../inbox/recipients.ts'
import { isGone } from '../inbox/withdrawals.ts'
import type { Db, DeliveryStatus, Params, Platform } from '../tables.ts'
import { write } from '../texts/texts.ts'

/** How long a worker has a delivery to itself: longer than two attempts at the provider may take. */
const LEASE_IN_SECONDS = 30

export interface Claimed {
  id: string
  wasHeld: boolean
  attempts: number
  low: boolean
  hours: number
  /** Seconds since it could have been sent: since what held it back ended, else since it was written. */
  waited: number
  noticeId: string
  accountId: string
  platform: Platform
  deviceId: string
  /** Null when the device is gone, or somebody else's. */
  token: string | null
  kind: Kind
  type: NoticeType
  data: Record<string, string>
  params: Params
  others: number
  isRead: boolean
  isRemoved: boolean
  isBlocked: boolean
  actorId: string | null
  actorName: string | null
  locale: string | null
  timezone: string | null
  unread: number
}

/** Takes those deliveries that are due for this worker alone, with all that their pushes are made of; undefined stands for the others. */
export async function claimDeliveries (db: Db, ids: string[]): Promise<(Claimed | undefined)[]> {
  const { rows } = await sql<Claimed>`
    with claimed as (
      update deliveries set attempts = attempts + 1, claimed_until = now() + make_interval(secs => ${sql.lit(LEASE_IN_SECONDS)})
      where id = any(${ids}::uuid[]) and status in ('pending', 'held') and due_at <= now() and (claimed_until is null or claimed_until < now())
      returning *
    )
    select claimed.id, claimed.status = 'held' as "wasHeld", attempts, low, (extract(epoch from now() - claimed.created_at) / 3600)::float8 as hours,
      extract(epoch from now() - case when claimed.status = 'held' then due_at else claimed.created_at end)::float8 as waited,
      notice_id as "noticeId", claimed.account_id as "accountId", claimed.platform, claimed.device_id as "deviceId", devices.token,
      kind, type, data, params, others, read_at is not null as "isRead",
      removed_at is not null or ${isGone(sql`notices.subject_id`, sql`notices.data`)} as "isRemoved",
      actor_id is not null and ${areBlocked(sql`claimed.account_id`, sql`actor_id`)} as "isBlocked",
      actor_id as "actorId", actor.name as "actorName", people.locale, people.timezone, coalesce(inboxes.unread, 0) as unread
    from claimed
    join notices on notices.id = claimed.notice_id
    left join devices on devices.id = claimed.device_id and devices.account_id = claimed.account_id
    left join people on people.account_id = claimed.account_id
    left join people actor on actor.account_id = notices.actor_id
    left join inboxes on inboxes.account_id = claimed.account_id`.execute(db)
  const claimed = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => {
    const mine = claimed.get(id)
    // Asked for twice at once, it is for one of the two.
    claimed.delete(id)
    return mine
  })
}

/** In how many milliseconds a delivery may be claimed: once it is due and no other worker has it. Undefined when it is over. */
export async function findWait (db: Db, id: string): Promise<number | undefined> {
  const { rows } = await sql<{ wait: number }>`
    select (extract(epoch from greatest(due_at, claimed_until) - now()) * 1000)::float8 as wait
    from deliveries where id = ${id} and status in ('pending', 'held')`.execute(db)
  return rows[0]?.wait
}

interface Wanted { low: boolean, olderThanSeconds: number, limit: number, after: string | undefined }

// Longer than the time between two sweeps, so that what waits for its time is offered before it comes.
const SOON_IN_SECONDS = 30

/** The deliveries that wait, in the order of their ids: those that are due for a while, and of those that wait for a time all whose time is near. */
export async function listWaiting (db: Db, { low, olderThanSeconds, limit, after }: Wanted) {
  const { rows } = await sql<{ id: string, delay: number }>`
    select id, greatest(0, extract(epoch from due_at - now()) * 1000)::float8 as delay from deliveries
    where low = ${low} and status in ('pending', 'held') and id > ${after ?? '00000000-0000-0000-0000-000000000000'}
      and due_at <= case when status = 'held' or attempts > 0 then now() + make_interval(secs => ${sql.lit(SOON_IN_SECONDS)}) else now() - make_interval(secs => ${olderThanSeconds}) end
      and (claimed_until is null or claimed_until < now())
    order by id limit ${sql.lit(limit)}`.execute(db)
  return rows
}

interface LogRow {
  id: string
  notificationId: string
  kind: Kind
  type: NoticeType
  params: Params
  others: number
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

/** What was and was not pushed to somebody, newest first. Ids are UUIDv7: the last is the cursor. */
export async function readPushLog (db: Db, accountId: string, { cursor, limit }: Page, language?: Language) {
  const { rows } = await sql<LogRow>`
    select deliveries.id, notice_id as "notificationId", kind, type, params, others, actor.name as "actorName",
      deliveries.device_name as "deviceName", deliveries.platform, status, reason, attempts, due_at as "dueAt",
      deliveries.created_at as "createdAt", finished_at as "finishedAt", people.locale, people.timezone
    from deliveries
    join notices on notices.id = notice_id
    left join people on people.account_id = deliveries.account_id
    left join people actor on actor.account_id = notices.actor_id
    where deliveries.account_id = ${accountId} ${cursor ? sql`and deliveries.id < ${cursor}` : sql``}
    order by deliveries.id desc limit ${sql.lit(limit + 1)}`.execute(db)
  const { page, nextCursor } = paginate(rows, limit, ({ id }) => id)
  return {
    deliveries: page.map(({ kind, params, others, actorName, locale, timezone, ...row }) => ({
      ...row, ...write({ kind, params, others, actorName }, language ?? languageOfLocale(locale), timezone ?? 'UTC')
    })),
    nextCursor
  }
}
