import { textsOf } from '@tandem/brand-kit'
import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import { sql } from 'kysely'
import { lookupArray } from '@tandem/database-kit'
import type { MediaUrls } from '@tandem/media-url-kit'
import { paginate, type Page } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import type { Db, Params } from '../tables.ts'
import { renderText } from '../texts/texts.ts'
import { isShown, unreadCountOf, visibleActor, visibleOthersCount } from '../notifications/shown.ts'
import { type Kind, usesDisplayName } from '../texts/kinds.ts'
import type { NotificationType } from '../texts/types.ts'

type InboxDeps = Pick<Deps, 'db' | 'mediaUrls'>

interface NotificationRow {
  id: string
  kind: Kind
  type: NotificationType
  data: Record<string, string>
  params: Params
  othersCount: number
  readAt: Date | null
  createdAt: Date
  actorId: string | null
  actorName: string | null
  actorImage: string | null
}

type InboxRow = (NotificationRow | { [Column in keyof NotificationRow]: null }) & {
  unreadCount: number,
  locale: string | null,
  timezone: string | null
}

/** The person that each notification shows as its actor, `actor_id` of `shown`. */
const joinActor = sql`
  cross join lateral (select ${visibleActor} as actor_id) shown
  left join people on people.account_id = shown.actor_id`

// The columns of a NotificationRow, for a query with `joinActor`.
const notificationColumns = sql`
  notifications.id, kind, type, data, params, ${visibleOthersCount} as "othersCount",
  read_at as "readAt", created_at as "createdAt",
  shown.actor_id as "actorId", people.name as "actorName", people.image as "actorImage"`

export type RenderedNotification = ReturnType<typeof render>

/**
 * Lists an account's notifications, newest first, with the unread count of the same snapshot. Ids are UUIDv7, so the
 * last id is the cursor.
 */
export async function readInbox (
  { db, mediaUrls }: InboxDeps,
  accountId: string,
  { cursor, limit, unreadOnly = false }: Page & { unreadOnly?: boolean | undefined },
  language?: string
) {
  const { rows } = await sql<InboxRow>`
    select me.unread as "unreadCount", me.locale, me.timezone, page.*
    from (
      select ${unreadCountOf(sql`${accountId}`)} as unread, people.locale, people.timezone
      from (select) nothing left join people on people.account_id = ${accountId}
    ) me
    left join lateral (
      select ${notificationColumns}
      from notifications ${joinActor}
      where notifications.account_id = ${accountId} and ${isShown}
        ${unreadOnly ? sql`and read_at is null` : sql``}
        ${cursor ? sql`and notifications.id < ${cursor}` : sql``}
      order by notifications.id desc limit ${sql.lit(limit + 1)}
    ) page on true`.execute(db)
  const [{ unreadCount, locale, timezone } = { unreadCount: 0, locale: null, timezone: null }] = rows
  const found = rows.filter((row) => row.id !== null)
  const { page, nextCursor } = paginate(found, limit, ({ id }) => id)
  return {
    notifications: page.map((row) =>
      render(mediaUrls, row, language ?? textsOf(locale).locale, timezone ?? DEFAULT_TIMEZONE)
    ),
    nextCursor,
    unreadCount
  }
}

interface KeyedNotifications {
  accountId: string
  dedupeKeys: string[]
  language: string
  timezone: string
}

/**
 * Reads notifications of inboxes by their dedupe keys: for each inbox a map by dedupe key. Those that were removed or
 * are not listed are left out.
 */
export async function readNotifications (
  { db, mediaUrls }: InboxDeps,
  inboxes: KeyedNotifications[]
): Promise<Map<string, RenderedNotification>[]> {
  const requested = inboxes.flatMap(({ accountId, dedupeKeys }, number) =>
    dedupeKeys.map((dedupeKey) => ({ number, accountId, dedupeKey }))
  )
  if (requested.length === 0) return inboxes.map(() => new Map())
  const { rows } = await sql<NotificationRow & { number: number, dedupeKey: string }>`
    select requested.number, requested.dedupe_key as "dedupeKey", ${notificationColumns}
    from unnest(
      ${lookupArray(requested.map(({ number }) => number), 'integer')},
      ${lookupArray(requested.map(({ accountId }) => accountId), 'uuid')},
      ${lookupArray(requested.map(({ dedupeKey }) => dedupeKey), 'text')}
    ) as requested (number, account_id, dedupe_key)
    cross join lateral (
      select * from notifications
      where notifications.account_id = requested.account_id and notifications.dedupe_key = requested.dedupe_key
      limit 1
    ) notifications
    ${joinActor}
    where ${isShown}`.execute(db)
  const byInbox = Map.groupBy(rows, ({ number }) => number)
  return inboxes.map(({ language, timezone }, number) =>
    new Map((byInbox.get(number) ?? []).map((row) => [row.dedupeKey, render(mediaUrls, row, language, timezone)]))
  )
}

function render (mediaUrls: MediaUrls, row: NotificationRow, language: string, timezone: string) {
  return {
    id: row.id,
    type: row.type,
    ...renderText(row, language, timezone),
    data: row.data,
    actor: actorOf(mediaUrls, row),
    readAt: row.readAt,
    createdAt: row.createdAt
  }
}

function actorOf (
  mediaUrls: MediaUrls,
  { kind, data: { profileId }, params: { displayName }, actorId, actorName, actorImage }: NotificationRow
) {
  if (usesDisplayName(kind)) {
    return profileId !== undefined && typeof displayName === 'string'
      ? { id: profileId, name: displayName, image: null }
      : null
  }
  return actorId && actorName !== null ? { id: actorId, name: actorName, image: mediaUrls.urlOf(actorImage) } : null
}

export async function readUnreadCount (db: Db, accountId: string) {
  const { rows } = await sql<{ count: number }>`select ${unreadCountOf(sql`${accountId}`)} as count`.execute(db)
  return rows[0]!.count
}
