import { sql, type SqlBool } from 'kysely'
import { idOf, isFollowing, isMatched, notBlocked, type Someone } from '../connections/predicates.ts'
import { StoryExpired, StoryNotFound } from '../errors.ts'
import type { Trx } from '../tables.ts'

// Who may see a story is decided here and nowhere else.

/** Whether `viewer` may see stories of `author`: his own, of people he follows, of FitMatch matches; of the blocked never. */
export const sharesStories = (author: Someone, viewer: Someone) => sql<SqlBool>`(
  (${idOf(author)} = ${idOf(viewer)} or ${isFollowing(viewer, author)} or ${isMatched(viewer, author)}) and ${notBlocked(viewer, author)})`

/** Whether `viewer` may see the row of `stories`, active or not. */
export const visibleStory = (viewer: Someone) => sharesStories(sql.ref('stories.author_id'), viewer)

export const isActive = sql<SqlBool>`(stories.expires_at > now() and stories.cleared_at is null)`

/**
 * Takes the row of an active story that `viewer` may see; what changes its views and reactions waits here.
 * @throws StoryNotFound, StoryExpired only for who could have seen it
 */
export async function lockVisibleStory (trx: Trx, id: string, viewer: string) {
  const story = await trx.selectFrom('stories').where('id', '=', id).where(visibleStory(viewer))
    .select(['id', 'author_id as authorId', 'media_url as mediaUrl', isActive.$castTo<boolean>().as('isActive')])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!story) throw new StoryNotFound()
  if (!story.isActive) throw new StoryExpired()
  return story
}
