import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { StoryReacted } from '@tandem/contracts'
import { EmojiTooLong, NotYourStory, StoryLimitExceeded } from '../errors.ts'
import { attachMedia, detachMedia } from '../media/actions.ts'
import type { Db, StoryMediaType, Trx } from '../tables.ts'
import { findStory } from './queries.ts'
import { lockVisibleStory } from './visibility.ts'

const PER_DAY = 10
const LONGEST_EMOJI = 4

export interface NewStory {
  authorId: string
  /** As it is stored: a key, or an address of elsewhere. */
  mediaUrl: string
  mediaType: StoryMediaType
  caption: string | null
  textColor: string | null
  bgColor: string | null
  fontStyle: string | null
  duration: number | null
}

/** @param timezone whose calendar the daily limit goes by @throws StoryLimitExceeded, MediaGone */
export async function publishStory (trx: Trx, story: NewStory, timezone: string) {
  const today = Temporal.Now.plainDateISO(timezone).toString()
  // One statement, so that of many at once exactly as many pass as there is room for.
  const counted = await trx.insertInto('story_days').values({ account_id: story.authorId, day: today, stories: 1 })
    .onConflict((conflict) => conflict.columns(['account_id', 'day'])
      .doUpdateSet((row) => ({ stories: row('story_days.stories', '+', 1) }))
      .where('story_days.stories', '<', PER_DAY))
    .returning('stories')
    .executeTakeFirst()
  if (!counted) throw new StoryLimitExceeded()
  await attachMedia(trx, [story.mediaUrl])

  return await trx.insertInto('stories')
    .values({
      author_id: story.authorId,
      media_url: story.mediaUrl,
      media_type: story.mediaType,
      caption: story.caption,
      text_color: story.textColor,
      bg_color: story.bgColor,
      font_style: story.fontStyle,
      duration: story.duration
    })
    .returning(['id', 'media_url as mediaUrl', 'expires_at as expiresAt'])
    .executeTakeFirstOrThrow()
}

/**
 * Shows a story and notes that somebody else than its author has seen it; each viewer counts once.
 * @throws StoryNotFound, StoryExpired
 */
export async function viewStory (db: Db, id: string, viewer: string) {
  const story = await findStory(db, id, viewer)
  if (story.userId === viewer || story.isViewed) return story

  await db.transaction().execute(async (trx) => {
    await lockVisibleStory(trx, id, viewer)
    await countView(trx, id, viewer)
  })
  return await findStory(db, id, viewer)
}

/** The story's row has to be locked. */
async function countView (trx: Trx, id: string, viewer: string) {
  const view = await trx.insertInto('story_views').values({ story_id: id, account_id: viewer })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (view) await trx.updateTable('stories').where('id', '=', id).set((row) => ({ view_count: row('view_count', '+', 1) })).execute()
}

/**
 * Sets somebody's reaction. Whoever reacts has seen the story, and its author finds him among the viewers.
 * @throws EmojiTooLong, StoryNotFound, StoryExpired
 */
export async function react (db: Db, { storyId, accountId, emoji }: { storyId: string, accountId: string, emoji: string }) {
  if ([...new Intl.Segmenter().segment(emoji)].length > LONGEST_EMOJI) throw new EmojiTooLong()
  return await db.transaction().execute(async (trx) => {
    const story = await lockVisibleStory(trx, storyId, accountId)
    const earlier = await trx.selectFrom('story_reactions').where('story_id', '=', storyId).where('account_id', '=', accountId)
      .select(['emoji', 'created_at as createdAt']).executeTakeFirst()
    // Sent again, it is the same reaction.
    if (earlier?.emoji === emoji) return earlier

    const reaction = await trx.insertInto('story_reactions').values({ story_id: storyId, account_id: accountId, emoji })
      .onConflict((conflict) => conflict.columns(['story_id', 'account_id']).doUpdateSet({ emoji, created_at: sql`now()` }))
      .returning(['emoji', 'created_at as createdAt'])
      .executeTakeFirstOrThrow()
    if (!earlier) await trx.updateTable('stories').where('id', '=', storyId).set((row) => ({ reaction_count: row('reaction_count', '+', 1) })).execute()
    if (story.authorId !== accountId) await countView(trx, storyId, accountId)
    await publish(trx, StoryReacted, storyId, { storyId, authorId: story.authorId, reactedBy: accountId, emoji })
    return reaction
  })
}

/** @returns which image it showed @throws StoryNotFound, StoryExpired, NotYourStory */
export async function deleteStory (db: Db, { id, accountId }: { id: string, accountId: string }) {
  return await db.transaction().execute(async (trx) => {
    const story = await lockVisibleStory(trx, id, accountId)
    if (story.authorId !== accountId) throw new NotYourStory()
    await trx.deleteFrom('stories').where('id', '=', id).execute()
    await detachMedia(trx, [{ accountId, shown: story.mediaUrl }])
    return story.mediaUrl
  })
}

const CLEARED_AT_ONCE = 200

/**
 * Clears stories that expired a day ago of all but the fact that there was one, so that reading it goes on answering that it expired.
 * @returns how many, 0 when there are no more
 */
export async function clearExpired (db: Db) {
  return await db.transaction().execute(async (trx) => {
    const expired = await trx.selectFrom('stories').where('cleared_at', 'is', null)
      .where('expires_at', '<', sql<Date>`now() - interval '1 day'`)
      .select(['id', 'author_id as accountId', 'media_url as shown'])
      .orderBy('expires_at').limit(CLEARED_AT_ONCE).forUpdate().skipLocked()
      .execute()
    if (expired.length === 0) return 0
    const ids = expired.map((story) => story.id)
    await trx.deleteFrom('story_views').where('story_id', 'in', ids).execute()
    await trx.deleteFrom('story_reactions').where('story_id', 'in', ids).execute()
    await trx.updateTable('stories').where('id', 'in', ids)
      .set({ cleared_at: sql`now()`, media_url: '', caption: null, text_color: null, bg_color: null, font_style: null })
      .execute()
    await detachMedia(trx, expired)
    return expired.length
  })
}
