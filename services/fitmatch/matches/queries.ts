import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { ageNow } from '../people/queries.ts'
import { candidatePhotoColumns, mainPhotoOf } from '../photos/queries.ts'
import { isVisibleTo } from '../people/visibility.ts'
import type { Db } from '../tables.ts'

const MAX_SHOWN = 500

/** The active matches of `accountId`, each joined to the other person's profile if it is visible. */
export function matchesOf (db: Db, accountId: string) {
  return db.selectFrom('matches')
    .innerJoin(
      'profiles',
      (join) =>
        join.on('profiles.account_id', '=', sql<string>`case when low_id = ${accountId} then high_id else low_id end`)
    )
    .where((eb) => eb.or([eb('low_id', '=', accountId), eb('high_id', '=', accountId)]))
    .where('ended_at', 'is', null)
    .where(isVisibleTo(accountId))
}

/**
 * Joins to each row of `requested`, with an `account_id` and a `match_id`, the active match and the other's profile,
 * if the account can see them. Suspended people see none.
 */
export const joinVisibleMatch = sql`
    join profiles participant on participant.account_id = requested.account_id and participant.status <> 'SUSPENDED'
    join matches on matches.id = requested.match_id and ended_at is null and requested.account_id in (low_id, high_id)
    join profiles on profiles.account_id = case when low_id = requested.account_id then high_id else low_id end
      and ${isVisibleTo(sql<string>`requested.account_id`)}`

/** Each match with the other person's profile and the last message. */
const selectMatches = (db: Db, accountId: string) =>
  matchesOf(db, accountId)
    .leftJoinLateral((eb) =>
      eb.selectFrom('messages').whereRef('match_id', '=', 'matches.id')
        .select([
          'content',
          'image_url as imageUrl',
          'messages.created_at as createdAt',
          sql<boolean>`sender_id = ${accountId}`.as('isMine')
        ])
        .orderBy('messages.created_at', 'desc').limit(1).as('last'), (join) => join.onTrue())
    .select((eb) => [
      'matches.id as matchId',
      'match_type as matchType',
      'matches.created_at as matchedAt',
      'profiles.id',
      'display_name as displayName',
      ageNow.as('age'),
      'last.content',
      'last.imageUrl',
      'last.createdAt',
      'last.isMine',
      jsonArrayFrom(
        eb.selectFrom('photos').whereRef('profile_id', '=', 'profiles.id').orderBy('sort_order')
          .select(candidatePhotoColumns)
      ).as('photos'),
      eb.selectFrom('messages').whereRef('match_id', '=', 'matches.id').where('read_at', 'is', null).where(
        'sender_id',
        '<>',
        accountId
      )
        .select((count) => count.fn.countAll<number>().as('unread')).as('unreadCount')
    ])
    .limit(MAX_SHOWN)

/** Matches without a message, newest first. */
export async function listNewMatches (db: Db, accountId: string) {
  const rows = await selectMatches(db, accountId).where('last_message_at', 'is', null).orderBy(
    'matches.created_at',
    'desc'
  ).execute()
  return rows.map(toMatch)
}

type MatchRow = Awaited<ReturnType<ReturnType<typeof selectMatches>['executeTakeFirstOrThrow']>>

const toMatch = ({ matchId, matchType, matchedAt, id, displayName, age, photos }: MatchRow) => ({
  matchId,
  matchType,
  matchedAt,
  profile: { id, displayName, age, photos }
})

/** Matches with messages, the most recently active first. */
export async function listConversations (db: Db, accountId: string) {
  const rows = await selectMatches(db, accountId).where('last_message_at', 'is not', null).orderBy(
    'last_message_at',
    'desc'
  ).execute()
  return rows.flatMap((row) => {
    const { content, imageUrl, createdAt, isMine, unreadCount } = row
    if (createdAt === null || isMine === null) return []
    return [{ ...toMatch(row), lastMessage: { content, imageUrl, createdAt, isMine }, unreadCount: unreadCount ?? 0 }]
  })
}

export async function countMatches (db: Db, accountId: string) {
  const { count } = await matchesOf(db, accountId).select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** The newest matches, for the home screen. */
export async function listNewestMatches (db: Db, accountId: string, limit: number) {
  const rows = await matchesOf(db, accountId)
    .select([
      'matches.id as matchId',
      'profiles.id as profileId',
      'display_name as displayName',
      'matches.created_at as matchedAt',
      mainPhotoOf('profiles.id').as('photo')
    ])
    .orderBy('matches.created_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...row, matchedAt: row.matchedAt.toISOString() }))
}
