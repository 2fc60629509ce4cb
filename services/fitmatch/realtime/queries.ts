import { sql } from 'kysely'
import { ageNow } from '../people/queries.ts'
import { isVisibleTo } from '../people/visibility.ts'
import type { Db } from '../tables.ts'

interface DetailsItem {
  accountId: string
  matchId: string
  messageId: string | null
}

interface DetailsRow {
  number: number
  matchId: string
  matchType: 'LIKE' | 'WORKOUT_BUDDY'
  matchedAt: Date
  profileId: string
  displayName: string
  age: number | null
  photos: { url: string, isMain: boolean }[]
  messageId: string | null
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
 */
export async function listDetails (db: Db, items: DetailsItem[]): Promise<DetailsRow[]> {
  const viewer = sql<string>`requested.account_id`
  const { rows } = await sql<DetailsRow>`
    select requested.number, matches.id as "matchId", match_type as "matchType", matches.created_at as "matchedAt",
      profiles.id as "profileId", profiles.display_name as "displayName", ${ageNow} as age,
      coalesce((
        select json_agg(json_build_object('url', url, 'isMain', is_main) order by sort_order) from photos
        where profile_id = profiles.id
      ), '[]') as photos,
      messages.id as "messageId", sender_id as "senderId", content, image_url as "imageUrl",
      image_width as width, image_height as height, image_blurhash as blurhash,
      messages.created_at as "sentAt", read_at as "readAt", client_id as "clientId",
      (
        select count(*)::integer from messages
        where match_id = matches.id and read_at is null and sender_id <> ${viewer}
      ) as unread
    from unnest(
      ${items.map((_, number) => number)}::integer[],
      ${items.map(({ accountId }) => accountId)}::uuid[],
      ${items.map(({ matchId }) => matchId)}::uuid[],
      ${items.map(({ messageId }) => messageId)}::uuid[]
    ) as requested (number, account_id, match_id, message_id)
    join profiles participant on participant.account_id = ${viewer} and participant.status <> 'SUSPENDED'
    join matches on matches.id = requested.match_id and ended_at is null and ${viewer} in (low_id, high_id)
    join profiles on profiles.account_id = case when low_id = ${viewer} then high_id else low_id end
    left join messages on messages.id = requested.message_id and messages.match_id = matches.id
    where ${isVisibleTo(viewer)} and (requested.message_id is null or messages.id is not null)`.execute(db)
  return rows
}
