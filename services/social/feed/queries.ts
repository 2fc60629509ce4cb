import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Page } from '@tandem/service-kit'
import { idOf, isFollowing, isMatched } from '../connections/predicates.ts'
import { selectPosts, type PostRow } from '../posts/queries.ts'
import { visiblePost } from '../posts/visibility.ts'
import type { Db, PostType } from '../tables.ts'

export interface Filters { type?: PostType | undefined, hashtag?: string | undefined, mentioned?: string | undefined }
export type FeedQuery = Filters & Page

const author = sql.ref<string>('posts.author_id')

// Whole texts and no parameters: only of those can Postgres tell that an index for them will do.
const isListed = sql<SqlBool>`posts.deleted_at is null and posts.visibility <> 'PRIVATE'`
const isPublic = sql<SqlBool>`posts.deleted_at is null and posts.visibility = 'PUBLIC'`

/** Public posts, and those for followers of whom the reader follows. Newest first, as all the others; the last id is the next cursor. */
export const readAll = (db: Db, reader: string, query: FeedQuery) =>
  selectPage(db, reader, query)
    .where(isListed)
    .where(sql<SqlBool>`(posts.visibility = 'PUBLIC' or ${author} <> ${idOf(reader)})`)
    .execute()

/** Public posts of people the reader has nothing to do with yet. */
export const readDiscover = (db: Db, reader: string, query: FeedQuery) =>
  selectPage(db, reader, query)
    .where(isPublic)
    .where('posts.author_id', '<>', reader)
    .where(sql<SqlBool>`not ${isFollowing(reader, author)}`)
    .where(sql<SqlBool>`not ${isMatched(reader, author)}`)
    .execute()

/** One person's posts: the reader's own are all, another's are the public ones. */
export const readOfPerson = (db: Db, reader: string, authorId: string, query: FeedQuery) =>
  selectPage(db, reader, query)
    .where('posts.author_id', '=', authorId)
    .$if(authorId !== reader, (posts) => posts.where(isPublic))
    .execute()

// Who follows more people than this most likely finds a page among so many of everybody's newest posts.
const MANY = 500
const NEWEST = 2_000

/** Posts of people the reader follows. Nothing is written beforehand: the cost depends on how many he follows, not on how many posts there are. */
export async function readFollowing (db: Db, reader: string, query: FeedQuery): Promise<PostRow[]> {
  // A tag or a name is rarer than followed people: its posts are walked, and asked whose they are.
  if (query.hashtag !== undefined || query.mentioned !== undefined) {
    return await selectPage(db, reader, query).where(isListed).where(isFollowing(reader, author)).execute()
  }
  const found = await selectThose(db, reader, amongNewest(reader, query))
  return found.length > query.limit ? found : await selectThose(db, reader, freshestOfFollowed(reader, query))
}

type Ids = RawBuilder<{ id: string }>

const selectThose = async (db: Db, reader: string, ids: Ids) => await selectPosts(db, reader)
  .innerJoin(ids.as('page'), 'page.id', 'posts.id')
  .orderBy('posts.id', 'desc')
  .execute()

const listed = ({ type, cursor }: FeedQuery) => sql`
  ${isListed} ${cursor === undefined ? sql`` : sql`and posts.id < ${cursor}::uuid`} ${type === undefined ? sql`` : sql`and posts.type = ${type}`}`

// Nothing for a reader who follows few. What it finds is the page if all of it may be seen and it fills the page: whatever it did not
// look at is older.
const amongNewest = (reader: string, query: FeedQuery): Ids => sql`(
  select recent.id
  from (select posts.id, posts.author_id from posts where ${listed(query)} order by posts.id desc limit ${sql.lit(NEWEST)}) recent
  where (select following_count from standings where standings.account_id = ${idOf(reader)}) > ${sql.lit(MANY)}
    and ${isFollowing(reader, sql.ref('recent.author_id'))}
  order by recent.id desc limit ${sql.lit(query.limit + 1)})`

// Only the newest post of each followed person is looked up. The page lies among the posts of those who wrote last, and if they
// are as many as the page is long, none of it is older than the oldest of their newest posts.
function freshestOfFollowed (reader: string, query: FeedQuery): Ids {
  const most = sql.lit(query.limit + 1)
  const ofAuthor = (authorId: string) => sql`
    select posts.id from posts where posts.author_id = ${sql.ref(authorId)} and ${listed(query)} and ${visiblePost(reader)}`

  return sql`(
    select recent.id
    from (
      select followed_id, coalesce(nth_value(id, ${most}) over (rows between unbounded preceding and unbounded following), uuid '00000000-0000-0000-0000-000000000000') as oldest
      from (
        select follows.followed_id, newest.id
        from follows cross join lateral (${ofAuthor('follows.followed_id')} order by posts.id desc limit 1) newest
        where follows.follower_id = ${idOf(reader)}
        order by newest.id desc limit ${most}
      ) latest
    ) freshest cross join lateral (${ofAuthor('freshest.followed_id')} and posts.id >= freshest.oldest order by posts.id desc limit ${most}) recent
    order by recent.id desc limit ${most})`
}

function selectPage (db: Db, reader: string, { cursor, limit, ...filters }: FeedQuery) {
  return selectPosts(db, reader)
    .where(matching(filters))
    .$if(cursor !== undefined, (posts) => posts.where('posts.id', '<', cursor!))
    .orderBy('posts.id', 'desc')
    .limit(limit + 1)
}

/** Whether a row of `posts` is of that kind. */
export function matching ({ type, hashtag, mentioned }: Filters) {
  const conditions = [
    type !== undefined && sql<SqlBool>`posts.type = ${type}`,
    hashtag !== undefined && sql<SqlBool>`posts.id in (select post_id from post_hashtags where tag = ${hashtag})`,
    mentioned !== undefined && sql<SqlBool>`posts.id in (select post_id from mentions where account_id = ${idOf(mentioned)} and comment_id is null and in_text)`
  ].filter((condition) => condition !== false)
  return conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`
}
