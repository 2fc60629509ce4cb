import { sql, type ExpressionBuilder } from 'kysely'
import type { Page } from '@tandem/service-kit'
import { idOf, isFollowing, notBlocked } from '../connections/predicates.ts'
import type { Db, Tables } from '../tables.ts'
import { wordsBeginning } from './names.ts'

/** What a list of people shows of each, from a left join of `people`; `column` holds whose row it is. */
export const personColumns = (viewer: string, column: string) => [
  'people.name as name', 'people.username as username', 'people.image as image',
  isFollowing(viewer, sql.ref(column)).$castTo<boolean>().as('isFollowing')
] as const

/** Whether a row of `people` has one of these usernames, in lower case; in the collation of the index. */
export const isNamed = (usernames: string[]) => sql<boolean>`people.username collate "C" = any(${usernames}::text[])`

/** How a person appears to `viewer`; undefined for an unknown one, and when one of the two has blocked the other. */
export async function findProfile (db: Db, accountId: string, viewer: string) {
  return await db.selectFrom('people').leftJoin('standings', 'standings.account_id', 'people.account_id')
    .where('people.account_id', '=', accountId)
    .where(notBlocked(viewer, accountId))
    .select([
      'people.account_id as id', 'name', 'username', 'image', 'bio',
      sql<number>`coalesce(followers_count, 0)`.as('followersCount'),
      sql<number>`coalesce(following_count, 0)`.as('followingCount'),
      countListedPosts(accountId, viewer).as('postsCount'),
      isFollowing(viewer, accountId).$castTo<boolean>().as('isFollowing'),
      isFollowing(accountId, viewer).$castTo<boolean>().as('isFollowedBy')
    ])
    .executeTakeFirst()
}

// As many as GET /feed?userId= lists: his own are all, another's are the public ones.
const countListedPosts = (authorId: string, viewer: string) => sql<number>`(
  select count(*) from posts
  where posts.author_id = ${idOf(authorId)} and posts.deleted_at is null ${viewer === authorId ? sql`` : sql`and posts.visibility = 'PUBLIC'`})`

/** Whether `viewer` may know of this person. */
export async function isKnownTo (db: Db, accountId: string, viewer: string) {
  const { rows } = await sql<{ known: boolean }>`select ${notBlocked(viewer, accountId)} as known`.execute(db)
  return rows[0]?.known === true
}

type PersonExpression = ExpressionBuilder<Tables, 'people'>
const startsWith = (text: string) => ({ from: text, to: `${text}\u{10FFFF}` })

/**
 * People whose username begins with `text`, then those with names whose words begin with its words; each part in the order of usernames.
 * The cursor is the last person's id.
 */
export async function searchPeople (db: Db, viewer: string, text: string, { cursor, limit }: Page) {
  const prefix = startsWith(text.toLowerCase().replace(/^@/, ''))
  const words = wordsBeginning(text)
  // In the order of bytes, which is that of the index.
  const byUsername = (row: PersonExpression) => row.and([
    sql<boolean>`people.username collate "C" >= ${prefix.from}`, sql<boolean>`people.username collate "C" <= ${prefix.to}`
  ])
  const byName = sql<boolean>`to_tsvector('simple', people.folded) @@ to_tsquery('simple', ${words ?? ''})`
  const last = cursor === undefined ? undefined : await db.selectFrom('people').where('account_id', '=', cursor)
    .select((row) => ['username', byUsername(row).$castTo<boolean>().as('byUsername')])
    .executeTakeFirst()
  if (cursor !== undefined && !last) return []

  const part = (isFirst: boolean) => db.selectFrom('people')
    .where((row) => isFirst ? byUsername(row) : row.and([byName, row.not(byUsername(row))]))
    .where(notBlocked(viewer, sql.ref('people.account_id')))
    .$if(last !== undefined && last.byUsername === isFirst, (query) => query
      .where(sql<boolean>`(people.username collate "C", people.account_id) > (${last?.username} collate "C", ${cursor}::uuid)`))
    .select(['people.account_id as userId', 'people.account_id as cursorId', ...personColumns(viewer, 'people.account_id')])
    .orderBy(sql`people.username collate "C"`)
    .orderBy('people.account_id')
    .limit(limit + 1)

  const first = last && !last.byUsername ? [] : await part(true).execute()
  if (first.length > limit || words === undefined) return first
  return [...first, ...await part(false).execute()].slice(0, limit + 1)
}
