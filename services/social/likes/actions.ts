import { sql } from 'kysely'
import { cachePublishSql, publishSql } from '@tandem/bus-kit'
import { PostLiked, PostUnliked } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { createBatcher, currentCorrelation, type Correlation } from '@tandem/process-kit'
import { AlreadyLiked, NotLiked } from '../errors.ts'
import type { Db } from '../tables.ts'
import { asUuid } from '../visibility/people.ts'
import { excerptOfPost, hiddenPostError, canSeePost } from '../visibility/posts.ts'

interface Like {
  postId: string
  accountId: string
}

// Likes that arrive at the same time are one statement, compiled once: their rows, then the events, and last the counters of the posts,
// each part reading from the one before. So when many people like one post at once, its row is locked once for all of
// them, and only for the commit. Rows are written and locked in the order of ids, so that two replicas cannot deadlock.
// Code that holds a post's row must never wait for a like.

/** Likes a post. Resolves after the commit. @throws AlreadyLiked, and the errors of reading the post */
export type LikePost = (like: Like, idempotencyKey?: IdempotencyKey) => Promise<void>

type Outcome = 'liked' | 'repeated' | 'unreadable'

/** Returns `likePost`. Likes that arrive in one turn of the event loop, or while a statement runs, are written together. */
export function createLikePost (db: Db): LikePost {
  // All likes of a post are in one lane, so that its row is never waited for here.
  const lanes = Array.from(
    { length: LANES },
    () =>
      createBatcher(async (likes: CorrelatedLike[]) => await insertLikes(db, likes), {
        maxItems: MAX_BATCH,
        isItemError,
        waitsForTurn: true
      })
  )
  const laneOf = (postId: string) => lanes[(postId.toLowerCase().codePointAt(postId.length - 1) ?? 0) % LANES]!
  return async (like, idempotencyKey) => {
    // Not that of the batch: the code that runs it belongs to only one of its requests.
    const correlated = { ...like, correlation: currentCorrelation() }
    // Without a key no transaction is needed around the statement.
    if (!idempotencyKey) return await assertLiked(db, like, await laneOf(like.postId)(correlated))
    await withIdempotencyKey(db, idempotencyKey, async (trx) => {
      const [outcome] = await insertLikes(trx, [correlated])
      await assertLiked(trx, like, outcome!)
      return null
    })
  }
}

const MAX_BATCH = 200
// Fewer lanes make larger batches, and two keep both Postgres and this process busy.
const LANES = 2

// A post that is erased meanwhile or stays locked: the fault of a single like.
const isItemError = (error: unknown) => /^(?:2[23]|40|55|57014)/.test(String((error as { code?: unknown }).code))

async function assertLiked (db: Db, { postId, accountId }: Like, outcome: Outcome) {
  if (outcome === 'unreadable') throw await hiddenPostError(db, postId, accountId)
  if (outcome === 'repeated') throw new AlreadyLiked()
}

interface CorrelatedLike extends Like {
  correlation: Correlation
}

async function insertLikes (db: Db, likes: CorrelatedLike[]): Promise<Outcome[]> {
  const keyOf = ({ postId, accountId }: Like) => `${postId} ${accountId}`.toLowerCase()
  // Of two requests for the same like, one is the first.
  const first = new Map(likes.toReversed().map((like) => [keyOf(like), like]))
  const requested = [...first.values()]
  const rows = await insertAndPublish(db, {
    numbers: requested.map((_, number) => number),
    postIds: requested.map(({ postId }) => postId),
    accountIds: requested.map(({ accountId }) => accountId),
    traceparents: requested.map(({ correlation }) => correlation.traceparent ?? null),
    requestIds: requested.map(({ correlation }) => correlation.requestId ?? null)
  })
  const isLiked = new Map(rows.map(({ number, isLiked }) => [requested[number], isLiked]))
  return likes.map((like) => {
    const same = first.get(keyOf(like))!
    const wasInserted = isLiked.get(same)
    return wasInserted === undefined ? 'unreadable' : wasInserted && like === same ? 'liked' : 'repeated'
  })
}

type LikeColumns = {
  numbers: number[],
  postIds: string[],
  accountIds: string[],
  traceparents: (string | null)[],
  requestIds: (string | null)[]
}

const likedEvent = {
  postId: sql<string>`visible.id`,
  authorId: sql<string>`visible.author_id`,
  likedBy: sql<string>`visible.account_id`,
  excerpt: sql<string | null>`visible.excerpt`
}

// Each array is a subquery, so that its length is unknown to the planner. Otherwise Postgres plans each batch, which
// takes twice as long as to execute it.
const insertAndPublish = cachePublishSql((insertEvent, likes: LikeColumns) =>
  sql<{ number: number, isLiked: boolean }>`
  with visible as (
    select requested.*, posts.id, posts.author_id, ${excerptOfPost} as excerpt
    from unnest(
      (select ${likes.numbers}::integer[]),
      (select ${likes.postIds}::uuid[]),
      (select ${likes.accountIds}::uuid[]),
      (select ${likes.traceparents}::text[]),
      (select ${likes.requestIds}::text[])
    ) as requested (number, post_id, account_id, traceparent, request_id)
    join posts on posts.id = requested.post_id and ${canSeePost(sql.ref('requested.account_id'))}
  ), inserted as (
    insert into likes (post_id, account_id) select id, account_id from visible order by id, account_id
    on conflict (post_id, account_id) do nothing returning post_id, account_id
  ), published as (${
    insertEvent(
      PostLiked,
      sql`visible.id::text`,
      likedEvent,
      sql`visible join inserted on inserted.post_id = visible.id and inserted.account_id = visible.account_id`,
      { traceparent: sql`visible.traceparent`, requestId: sql`visible.request_id` }
    )
  }), counts as (
    select post_id, count(*)::integer as likes from inserted
    where (select count(*) from published) > 0 group by post_id
  ), locked as (
    select posts.id, counts.likes from counts join posts on posts.id = counts.post_id
    order by posts.id for no key update of posts
  ), counted as (
    update posts set likes_count = likes_count + locked.likes from locked where posts.id = locked.id
  )
  select number, exists (select from inserted
    where inserted.post_id = visible.id and inserted.account_id = visible.account_id) as "isLiked"
  from visible`
)

/** @throws NotLiked, and the errors of reading the post */
export async function unlikePost (db: Db, { postId, accountId }: Like) {
  const event = { ...ofVisible, unlikedBy: sql<string>`removed.account_id` }
  const { rows: [post] } = await publishSql(db, (insertEvent) =>
    sql<{ isUnliked: boolean }>`
    with ${visible(postId, accountId)},
    removed as (delete from likes using visible where likes.post_id = visible.id
      and likes.account_id = ${asUuid(accountId)} returning likes.account_id),
    published as (${insertEvent(PostUnliked, sql`visible.id::text`, event, sql`removed, visible`)}),
    counted as (update posts set likes_count = likes_count - 1 from published, visible where posts.id = visible.id)
    select exists (select from removed) as "isUnliked" from visible`)
  if (!post) throw await hiddenPostError(db, postId, accountId)
  if (!post.isUnliked) throw new NotLiked()
}

const ofVisible = { postId: sql<string>`visible.id`, authorId: sql<string>`visible.author_id` }
const visible = (postId: string, viewer: string) =>
  sql`
  visible as (select posts.id, posts.author_id, ${excerptOfPost} as excerpt from posts
    where posts.id = ${asUuid(postId)} and ${canSeePost(viewer)})`
