import { sql, type RawBuilder } from 'kysely'
import { selectPosts, type PostRow } from '../posts/queries.ts'
import type { Db } from '../tables.ts'
import { asUuid, canSeePerson, isFollowing, isMatched } from '../visibility/people.ts'
import { canSeePost, isShownToFollowers } from '../visibility/posts.ts'
import { cachePage, type FeedQuery, type Filters } from './pages.ts'

const author = sql.ref<string>('posts.author_id')

// Literals, not parameters: only then can Postgres match the predicate of a partial index.
const isListed = sql<boolean>`posts.deleted_at is null and posts.visibility <> 'PRIVATE'`
const isPublic = sql<boolean>`posts.deleted_at is null and posts.visibility = 'PUBLIC' and not posts.author_hidden`

// However many of the newest posts a reader cannot see, a page reads no more of them than this.
const NEWEST_SCANNED = 2_000

/**
 * Public posts, and followers-only posts of people the reader follows. Like all feeds below newest first; the last id
 * is the next cursor.
 */
export async function readAll (db: Db, reader: string, query: FeedQuery): Promise<PostRow[]> {
  if (isSelective(query)) return await readAllMatching(db, reader, query)
  const found = await readAllAmongNewest(db, reader, query)
  return found.length > query.limit ? found : await readNewestOfAll(db, reader, query)
}

/** Whether a tag or a mention selects the posts: their own rows are scanned then. */
const isSelective = ({ hashtag, mentioned }: Filters) => hashtag !== undefined || mentioned !== undefined

const isPublicOrOfOthers = (reader: string) =>
  sql<boolean>`(posts.visibility = 'PUBLIC' or ${author} <> ${asUuid(reader)})`

const readAllMatching = cachePage((db, reader, query) =>
  selectPage(db, reader, query).where(isListed).where(isPublicOrOfOthers(reader))
)
const readAllAmongNewest = cachePage((db, reader, query) =>
  selectAmongNewest(db, reader, query).where(isPublicOrOfOthers(reader))
)
const readNewestOfAll = cachePage((db, reader, query) => selectByIds(db, reader, newestOfAll(reader, query)))

// Public posts of all, and all posts of those the reader follows: each part is read by an index of its own.
const newestOfAll = (reader: string, query: FeedQuery): Ids =>
  sql`(
  select shown.id
  from (
    (select posts.id from posts where ${isPublic} and ${isOnPage(query)} and ${canSeePost(reader)}
      order by posts.id desc limit ${sql.lit(query.limit + 1)})
    union ${newestOfFollowed(reader, query)}
  ) shown
  order by shown.id desc limit ${sql.lit(query.limit + 1)})`

/** Public posts of people the reader neither follows nor is matched with. */
export const readDiscover = cachePage((db, reader, query) =>
  selectPage(db, reader, query)
    .where(isPublic)
    .where('posts.author_id', '<>', reader)
    .where(sql<boolean>`not ${isFollowing(reader, author)}`)
    .where(sql<boolean>`not ${isMatched(reader, author)}`)
)

/** The posts of one author: all of them for the author, the public ones for other readers. */
export const readByAuthor = async (db: Db, reader: string, authorId: string, query: FeedQuery) =>
  authorId === reader ? await readOwn(db, reader, query) : await readPublic(db, reader, { ...query, authorId })

const readOwn = cachePage((db, reader, query) => selectPage(db, reader, query).where('posts.author_id', '=', reader))
const readPublic = cachePage((db, reader, { authorId = '', ...query }: FeedQuery & { authorId?: string }) =>
  selectPage(db, reader, query).where('posts.author_id', '=', authorId).where(isPublic)
)

// A reader who follows more people than this most likely fills a page from the newest posts of all.
const MANY_FOLLOWED = 500

/**
 * Posts of people the reader follows. No timeline is precomputed: the cost depends on how many people they follow, not
 * on how many posts exist.
 */
export async function readFollowing (db: Db, reader: string, query: FeedQuery): Promise<PostRow[]> {
  if (isSelective(query)) return await readFollowedMatching(db, reader, query)
  const found = await readFollowedAmongNewest(db, reader, query)
  return found.length > query.limit ? found : await readNewestOfFollowed(db, reader, query)
}

const readFollowedMatching = cachePage((db, reader, query) =>
  selectPage(db, reader, query).where(isListed).where(isFollowing(reader, author))
)
// Returns nothing for a reader who follows few people.
const readFollowedAmongNewest = cachePage((db, reader, query) =>
  selectAmongNewest(db, reader, query).where(isFollowing(reader, author)).where(sql<boolean>`(
    select following_count from follow_counts
    where follow_counts.account_id = ${asUuid(reader)}) > ${sql.lit(MANY_FOLLOWED)}`)
)
const readNewestOfFollowed = cachePage((db, reader, query) => selectByIds(db, reader, newestOfFollowed(reader, query)))

type Ids = RawBuilder<{ id: string }>

const selectByIds = (db: Db, reader: string, ids: Ids) =>
  selectPosts(db, reader)
    .innerJoin(ids.as('page'), 'page.id', 'posts.id')
    .orderBy('posts.id', 'desc')

const isOnPage = ({ type, cursor }: FeedQuery) =>
  sql`
  ${cursor === undefined ? sql`true` : sql`posts.id < ${cursor}::uuid`}
    ${type === undefined ? sql`` : sql`and posts.type = ${type}`}`

// If the reader sees enough of them to fill the page, it is complete: all posts that are not scanned are older.
const selectAmongNewest = (db: Db, reader: string, query: FeedQuery) =>
  selectPosts(
    db,
    reader,
    sql`(select * from posts where ${isListed} and ${isOnPage(query)} order by posts.id desc
      limit ${sql.lit(NEWEST_SCANNED)})`
  )
    .orderBy('posts.id', 'desc')
    .limit(query.limit + 1)

// First looks up only the newest post of each followed person, in the index alone. The page consists of posts by the
// authors who posted last. If there are as many of these authors as the page has rows, no post of the page is older than
// the oldest of their newest posts.
function newestOfFollowed (reader: string, query: FeedQuery): Ids {
  const maxRows = sql.lit(query.limit + 1)
  const ofAuthor = (authorId: string) =>
    sql`
    select posts.id from posts
    where posts.author_id = ${sql.ref(authorId)} and ${isShownToFollowers} and ${isOnPage(query)}`

  return sql`(
    select recent.id
    from (
      select followed_id, coalesce(
        nth_value(id, ${maxRows}) over (rows between unbounded preceding and unbounded following),
        uuid '00000000-0000-0000-0000-000000000000') as oldest
      from (
        select follows.followed_id, newest.id
        from follows cross join lateral (${ofAuthor('follows.followed_id')} order by posts.id desc limit 1) newest
        where follows.follower_id = ${asUuid(reader)} and ${canSeePerson(reader, sql.ref('follows.followed_id'))}
        order by newest.id desc limit ${maxRows}
      ) newest_authors
    ) candidates cross join lateral (
      ${ofAuthor('candidates.followed_id')} and posts.id >= candidates.oldest
      order by posts.id desc limit ${maxRows}
    ) recent
    order by recent.id desc limit ${maxRows})`
}

function selectPage (db: Db, reader: string, { cursor, limit, ...filters }: FeedQuery) {
  return selectPosts(db, reader)
    .where(matchesFilters(reader, filters))
    .$if(cursor !== undefined, (posts) => posts.where('posts.id', '<', cursor!))
    .orderBy('posts.id', 'desc')
    .limit(limit + 1)
}

/** Whether a row of `posts` matches the filters. Nothing mentions a person that `reader` cannot see. */
export function matchesFilters (reader: string, { type, hashtag, mentioned }: Filters) {
  const conditions = [
    type !== undefined && sql<boolean>`posts.type = ${type}`,
    hashtag !== undefined && sql<boolean>`posts.id in (select post_id from post_hashtags where tag = ${hashtag})`,
    mentioned !== undefined &&
    sql<boolean>`posts.id in (select post_id from mentions
      where account_id = ${asUuid(mentioned)} and comment_id is null and in_text)
      and ${canSeePerson(reader, mentioned)}`
  ].filter((condition) => condition !== false)
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(conditions, sql` and `)})`
}
