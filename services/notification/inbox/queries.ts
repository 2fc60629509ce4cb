import { sql } from 'kysely'
import { paginate, languageOfLocale, type Language, type Page } from '@tandem/service-kit'
import type { Db, Params } from '../tables.ts'
import { write } from '../texts/texts.ts'
import { isUnderDisplayName, type Kind, type NoticeType } from './kinds.ts'

interface Row {
  id: string | null
  kind: Kind
  type: NoticeType
  data: Record<string, string>
  params: Params
  others: number
  readAt: Date | null
  createdAt: Date
  actorId: string | null
  actorName: string | null
  actorImage: string | null
  unreadCount: number
  locale: string | null
  timezone: string | null
}

/** What somebody was told, newest first, with the count of what he has not read at that same moment. Ids are UUIDv7: the last is the cursor. */
export async function readInbox (db: Db, accountId: string, { cursor, limit, unreadOnly = false }: Page & { unreadOnly?: boolean | undefined }, language?: Language) {
  const { rows } = await sql<Row>`
    select me.unread as "unreadCount", me.locale, me.timezone, page.*
    from (
      select coalesce((select unread from inboxes where account_id = ${accountId}), 0) as unread, people.locale, people.timezone
      from (select) nothing left join people on people.account_id = ${accountId}
    ) me
    left join lateral (
      select notices.id, kind, type, data, params, others, read_at as "readAt", created_at as "createdAt",
        actor_id as "actorId", people.name as "actorName", people.image as "actorImage"
      from notices left join people on people.account_id = notices.actor_id
      where notices.account_id = ${accountId} and listed and removed_at is null
        ${unreadOnly ? sql`and read_at is null` : sql``}
        ${cursor ? sql`and notices.id < ${cursor}` : sql``}
      order by notices.id desc limit ${sql.lit(limit + 1)}
    ) page on true`.execute(db)
  const [{ unreadCount, locale, timezone } = { unreadCount: 0, locale: null, timezone: null }] = rows
  const found = rows.filter((row): row is Row & { id: string } => row.id !== null)
  const { page, nextCursor } = paginate(found, limit, ({ id }) => id)
  return {
    notifications: page.map((row) => ({
      id: row.id,
      type: row.type,
      ...write(row, language ?? languageOfLocale(locale), timezone ?? 'UTC'),
      data: row.data,
      actor: actorOf(row),
      readAt: row.readAt,
      createdAt: row.createdAt
    })),
    nextCursor,
    unreadCount
  }
}

function actorOf ({ kind, params: { displayName }, actorId, actorName, actorImage }: Row) {
  if (!isUnderDisplayName(kind)) return actorId && actorName !== null ? { id: actorId, name: actorName, image: actorImage } : null
  // Somebody who is not matched yet is known by the profile only.
  return kind !== 'likeReceived' && actorId && typeof displayName === 'string' ? { id: actorId, name: displayName, image: null } : null
}

export async function findUnreadCount (db: Db, accountId: string) {
  const inbox = await db.selectFrom('inboxes').where('account_id', '=', accountId).select('unread').executeTakeFirst()
  return inbox?.unread ?? 0
}
