import { textsOf } from '@tandem/brand-kit'
import { sql, type ExpressionBuilder } from 'kysely'
import type { ImageDetails } from '@tandem/media-kit'
import type { Db, Tables } from '../tables.ts'
import { followersCount, followingCount } from '../visibility/counts.ts'
import { asUuid, isFollowing, canSeePerson } from '../visibility/people.ts'
import { toPrefixQuery } from './names.ts'

/** The columns of a list of people, from a left join of `people`. `column` holds the account id of each row. */
export const personColumns = (viewer: string, column: string) =>
  [
    'people.name as name',
    'people.username as username',
    'people.image as image',
    isFollowing(viewer, sql.ref(column)).as('isFollowing')
  ] as const

/** Whether a row of `people` has one of these lower-case usernames. The collation matches the index. */
export const hasUsernameIn = (usernames: string[]) =>
  sql<boolean>`people.username collate "C" = any(${usernames}::text[])`

/** A person's public profile for `viewer`; undefined if `viewer` cannot see them. */
export async function findProfile (db: Db, accountId: string, viewer: string) {
  return await db.selectFrom('people').leftJoin('follow_counts', 'follow_counts.account_id', 'people.account_id')
    .where('people.account_id', '=', accountId)
    .where(canSeePerson(viewer, accountId))
    .select([
      'people.account_id as id',
      'name',
      'username',
      'image',
      sql<ImageDetails>`jsonb_build_object(
        'width', image_width, 'height', image_height, 'blurhash', image_blurhash)`.as('imageDetails'),
      'bio',
      followersCount(viewer).as('followersCount'),
      followingCount(viewer).as('followingCount'),
      listedPostsCount(accountId, viewer).as('postsCount'),
      isFollowing(viewer, accountId).as('isFollowing'),
      isFollowing(accountId, viewer).as('isFollowedBy')
    ])
    .executeTakeFirst()
}

// As many as GET /feed?userId= lists: all posts for the author, the public ones for other viewers.
const listedPostsCount = (authorId: string, viewer: string) =>
  sql<number>`(
  select count(*) from posts
  where posts.author_id = ${asUuid(authorId)} and posts.deleted_at is null
    ${viewer === authorId ? sql`` : sql`and posts.hidden_at is null and posts.visibility = 'PUBLIC'`})`

/** Whether `viewer` can see this person. */
export async function isPersonVisibleTo (db: Db, accountId: string, viewer: string) {
  const { isVisible } = await db.selectNoFrom(canSeePerson(viewer, accountId).as('isVisible')).executeTakeFirstOrThrow()
  return isVisible
}

/** The last person of a page, as they were when it was read. */
export interface SearchPosition {
  byUsername: boolean
  username: string
  userId: string
}

type PersonExpression = ExpressionBuilder<Tables, 'people'>
const prefixRange = (text: string) => ({ from: text, to: `${text}\u{10FFFF}` })

/**
 * Other people whose username starts with `text`, then those whose name contains words that start with its words. Both
 * parts are ordered by username. The cursor is a position, not a person, so that a rename between two pages skips nobody.
 */
export async function searchPeople (
  db: Db,
  viewer: string,
  text: string,
  { cursor: last, limit }: { cursor: SearchPosition | undefined, limit: number }
) {
  const prefix = prefixRange(text.normalize('NFKC').toLowerCase().replace(/^@/, ''))
  const words = toPrefixQuery(text)
  // Compared by bytes, as in the index.
  const byUsername = (row: PersonExpression) =>
    row.and([
      sql<boolean>`people.username collate "C" >= ${prefix.from}`,
      sql<boolean>`people.username collate "C" <= ${prefix.to}`
    ])
  const byName = sql<boolean>`to_tsvector('simple', people.search_name) @@ to_tsquery('simple', ${words ?? ''})`
  const isAfterLast = sql<boolean>`(people.username collate "C", people.account_id)
    > (${last?.username} collate "C", ${last?.userId}::uuid)`
  const part = (isFirst: boolean) =>
    db.selectFrom('people')
      .where((row) => isFirst ? byUsername(row) : row.and([byName, row.not(byUsername(row))]))
      .where('people.account_id', '<>', viewer)
      .where(canSeePerson(viewer, sql.ref('people.account_id')))
      .$if(last?.byUsername === isFirst, (query) => query.where(isAfterLast))
      .select([
        'people.account_id as userId',
        sql<boolean>`${sql.lit(isFirst)}`.as('byUsername'),
        ...personColumns(viewer, 'people.account_id')
      ])
      .orderBy(sql`people.username collate "C"`)
      .orderBy('people.account_id')
      .limit(limit + 1)

  const first = last && !last.byUsername ? [] : await part(true).execute()
  if (first.length > limit || words === undefined) return first
  return [...first, ...await part(false).execute()].slice(0, limit + 1)
}

/** The language of a person, as far as the local copy knows it. */
export async function findLanguage (db: Db, accountId: string) {
  const person = await db.selectFrom('people').where('account_id', '=', accountId).select('locale').executeTakeFirst()
  return textsOf(person?.locale ?? null).locale
}
