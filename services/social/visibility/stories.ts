import { sql } from 'kysely'
import { asUuid, isFollowing, isMatched, canSeePerson, type AccountRef } from './people.ts'
import { StoryExpired, StoryNotFound } from '../errors.ts'
import type { Trx } from '../tables.ts'

// The only place that decides who can see a story.

/**
 * Whether `viewer` can see stories of `author`: their own, and those of people they follow and of FitMatch matches, but
 * never across a block.
 */
export const canSeeStoriesOf = (author: AccountRef, viewer: AccountRef) =>
  sql<boolean>`(
  (${asUuid(author)} = ${asUuid(viewer)} or ${isFollowing(viewer, author)} or ${isMatched(viewer, author)}) and
    ${canSeePerson(viewer, author)})`

/** Whether `viewer` can see the row of `stories`, active or not. */
export const canSeeStory = (viewer: AccountRef) =>
  sql<boolean>`((stories.hidden_at is null or stories.author_id = ${asUuid(viewer)})
  and ${canSeeStoriesOf(sql.ref('stories.author_id'), viewer)})`

export const isActive = sql<boolean>`(stories.expires_at > now() and stories.cleared_at is null)`

/**
 * Locks the row of an active story that `viewer` can see. Changes to its views and reactions take this lock first.
 * @throws StoryNotFound; StoryExpired only if `viewer` could see the story
 */
export async function lockVisibleStory (trx: Trx, id: string, viewer: string) {
  const story = await trx.selectFrom('stories').where('id', '=', id).where(canSeeStory(viewer))
    .select(['id', 'author_id as authorId', 'media_url as mediaUrl', isActive.as('isActive')])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!story) throw new StoryNotFound()
  if (!story.isActive) throw new StoryExpired()
  return story
}
