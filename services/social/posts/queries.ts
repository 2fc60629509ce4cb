import { sql, type Selectable } from 'kysely'
import { detailsOf, type StoredDetails } from '../media/queries.ts'
import { pollOf, type PollRow } from '../polls/queries.ts'
import type { Db, Tables } from '../tables.ts'
import { commentsCount, likesCount } from '../visibility/counts.ts'
import { asUuid, canSeePerson, isShownInPeople } from '../visibility/people.ts'
import { canSeePost, hiddenPostError } from '../visibility/posts.ts'

interface Mentioned {
  userId: string
  username: string
}

/**
 * All posts that `viewer` can see, each with its author, the viewer's like and the poll. As in the predicates, each
 * like is one index lookup.
 * @param posts a query of some rows of `posts`, with every column, to look only among these
 */
export function selectPosts (db: Db, viewer: string, posts = sql<Selectable<Tables['posts']>>`posts`) {
  return db.selectFrom(posts.as('posts'))
    .leftJoin('people', 'people.account_id', 'posts.author_id')
    .where(canSeePost(viewer, isShownInPeople(sql.ref('posts.author_id'))))
    .select([
      'posts.id',
      'posts.author_id as userId',
      'people.name',
      'people.username',
      'people.image',
      'posts.type',
      'posts.visibility',
      'posts.content',
      'posts.media_urls as mediaUrls',
      // Of our own images and videos.
      sql<StoredDetails | null>`case when posts.media_urls <> '{}' then ${
        detailsOf(sql.ref<string[]>('posts.media_urls'))
      } end`.as('mediaDetails'),
      'posts.media_type as mediaType',
      likesCount(viewer).as('likesCount'),
      commentsCount(viewer).as('commentsCount'),
      'posts.views_count as viewCount',
      'posts.workout',
      'posts.achievement',
      'posts.activity',
      'posts.location_name as locationName',
      'posts.latitude',
      'posts.longitude',
      isActivityCanceled.as('isActivityCanceled'),
      'posts.created_at as createdAt',
      'posts.edited_at as editedAt',
      sql<boolean>`exists (select from likes where likes.post_id = posts.id
        and likes.account_id = ${asUuid(viewer)} offset 0)`.as('isLiked'),
      sql<boolean>`posts.hidden_at is not null`.as('isHidden'),
      // Those that the viewer can see.
      sql<Mentioned[] | null>`case when posts.content ~ '[@＠]' then ${mentionedIn(viewer)} end`.as('mentioned'),
      sql<PollRow | null>`case when posts.type = 'POLL' then ${pollOf(viewer)} end`.as('poll')
    ])
}

/** A post as selected for a page. Its author can still be missing from the local copy. */
export type PostRow = Awaited<ReturnType<ReturnType<typeof selectPosts>['executeTakeFirstOrThrow']>>

const isActivityCanceled = sql<boolean>`(posts.activity is not null and exists (
  select from canceled_activities where activity_id = (posts.activity ->> 'id')::uuid))`

const mentionedIn = (viewer: string) =>
  sql`(
  select jsonb_agg(jsonb_build_object('userId', mention.account_id, 'username', mention.username))
  from mentions mention
  where mention.post_id = posts.id and mention.comment_id is null and mention.in_text
    and mention.username is not null and ${canSeePerson(viewer, sql.ref('mention.account_id'))})`

/** One post. @throws PostNotFound, PostForbidden, PostGone */
export async function readPost (db: Db, id: string, viewer: string) {
  const post = await findPost(db, id, viewer)
  if (!post) throw await hiddenPostError(db, id, viewer)
  return post
}

/** One post, or undefined if `viewer` cannot see it. */
export async function findPost (db: Db, id: string, viewer: string) {
  return await selectPosts(db, viewer).where('posts.id', '=', id).executeTakeFirst()
}
