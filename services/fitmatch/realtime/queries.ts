import { sql } from 'kysely'
import { lookupArray } from '@tandem/database-kit'
import { joinVisibleMatch } from '../matches/queries.ts'
import { ONLINE_WITHIN } from '../people/activity.ts'
import { ageNow } from '../people/queries.ts'
import type { StoredPhoto } from '../photos/describe.ts'
import type { Db, MatchType } from '../tables.ts'

interface DetailsItem {
  accountId: string
  matchId: string
  messageId: string | null
}

interface DetailsRow {
  number: number
  matchId: string
  matchType: MatchType
  matchedAt: Date
  profileId: string
  displayName: string
  age: number | null
  photos: (StoredPhoto & { isMain: boolean })[]
  messageId: string | null
  isMine: boolean
  senderId: string
  content: string | null
  imageUrl: string | null
  width: number | null
  height: number | null
  blurhash: string | null
  sentAt: Date
  readAt: Date | null
  clientId: string | null
  unread: number
}

/**
 * Reads what accounts can see of matches and messages, by the rules of the chat routes: only participants who are not
 * suspended, and only while the match stands and the other profile is visible to them. `number` is that of the item.
 * One statement, because a call asks for the items of many connections.
 */
export const listDetails = async (db: Db, items: DetailsItem[]): Promise<DetailsRow[]> =>
  (await selectDetails(items).execute(db)).rows

export const selectDetails = (items: DetailsItem[]) =>
  sql<DetailsRow>`
    with requested as materialized (
      select * from unnest(
        ${lookupArray(items.map((_, number) => number), 'integer')},
        ${lookupArray(items.map(({ accountId }) => accountId), 'uuid')},
        ${lookupArray(items.map(({ matchId }) => matchId), 'uuid')},
        ${lookupArray(items.map(({ messageId }) => messageId), 'uuid')}
      ) as requested (number, account_id, match_id, message_id)
    ), chats as materialized (
      -- Once for a chat, however many of its messages are asked for: it can have very many unread ones.
      select account_id, match_id, (
        select count(*)::integer from messages
        where messages.match_id = chat.match_id and read_at is null and sender_id <> chat.account_id
      ) as unread
      from (select distinct account_id, match_id from requested) chat
    )
    select requested.number, matches.id as "matchId", match_type as "matchType", matches.created_at as "matchedAt",
      profiles.id as "profileId", profiles.display_name as "displayName", ${ageNow} as age,
      coalesce((
        select json_agg(json_build_object('url', url, 'isMain', is_main, 'width', width, 'height', height, 'blurhash', blurhash)
          order by sort_order) from photos
        where profile_id = profiles.id
      ), '[]') as photos,
      messages.id as "messageId", sender_id = requested.account_id as "isMine",
      case when sender_id = requested.account_id then participant.id else profiles.id end as "senderId", content,
      image_url as "imageUrl", image_width as width, image_height as height, image_blurhash as blurhash,
      messages.created_at as "sentAt", read_at as "readAt", client_id as "clientId",
      chats.unread
    from requested
    join chats using (account_id, match_id)
    ${joinVisibleMatch}
    left join messages on messages.id = requested.message_id and messages.match_id = matches.id
    where requested.message_id is null or messages.id is not null`

interface PresenceRow {
  number: number
  matchId: string
  isOnline: boolean
  lastActiveAt: Date | null
}

/**
 * Reads whether the others of matches are online, by the rules of their profiles. The time is rounded down to five
 * minutes, so that following somebody shows no more than looking at their profile now and then. `number` is that of
 * the item.
 */
export async function listPresence (
  db: Db,
  items: { accountId: string, matchIds: string[] }[]
): Promise<PresenceRow[]> {
  const pairs = items.flatMap(({ accountId, matchIds }, number) =>
    matchIds.map((matchId) => ({ number, accountId, matchId }))
  )
  if (pairs.length === 0) return []
  const { rows } = await sql<PresenceRow>`
    select requested.number, matches.id as "matchId",
      profiles.show_online_status
        and coalesce(last_active_at > now() - ${sql.lit(ONLINE_WITHIN)}::interval, false) as "isOnline",
      case when profiles.show_last_active
        then date_bin(${sql.lit(ONLINE_WITHIN)}::interval, last_active_at, timestamptz '2000-01-01')
      end as "lastActiveAt"
    from unnest(
      ${lookupArray(pairs.map(({ number }) => number), 'integer')},
      ${lookupArray(pairs.map(({ accountId }) => accountId), 'uuid')},
      ${lookupArray(pairs.map(({ matchId }) => matchId), 'uuid')}
    ) as requested (number, account_id, match_id)
    ${joinVisibleMatch}
    left join activity on activity.account_id = profiles.account_id`.execute(db)
  return rows
}
