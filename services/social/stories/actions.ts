import { sql } from 'kysely'
import { readLimits } from '@tandem/brand-kit'
import { publish } from '@tandem/bus-kit'
import { StoryDeleted, StoryReacted, StoryUnreacted } from '@tandem/contracts'
import { useDailyQuota, withIdempotencyKey, workLocked, type IdempotencyKey } from '@tandem/database-kit'
import { lowerCounters } from '../counters.ts'
import { NotEmoji, NotReacted, NotYourStory, StoryLimitExceeded } from '../errors.ts'
import { attachMedia, detachMedia } from '../media/actions.ts'
import type { Today } from '../people/actions.ts'
import type { Db, StoryMediaType, Trx } from '../tables.ts'
import { lockVisibleStory } from '../visibility/stories.ts'
import { readStory } from './queries.ts'

const MAX_EMOJI = 4

interface NewStory {
  authorId: string
  /** As stored: a storage key, or a URL of another host. */
  mediaUrl: string
  mediaType: StoryMediaType
  caption: string | null
  textColor: string | null
  bgColor: string | null
  fontStyle: string | null
  duration: number | null
}

/** @param today the author's @throws StoryLimitExceeded, MediaGone */
export async function createStory (db: Db, story: NewStory, today: Today, idempotencyKey?: IdempotencyKey) {
  const { storiesPerDay: limit } = readLimits()
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    const quota = { name: 'stories', accountId: story.authorId, day: today, limit }
    if (!await useDailyQuota(trx, quota)) throw new StoryLimitExceeded({ limit })
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
  })
}

/**
 * Reads a story and records the view, unless the viewer is its author. Each viewer counts once.
 * @throws StoryNotFound, StoryExpired
 */
export async function viewStory (db: Db, id: string, viewer: string) {
  const story = await readStory(db, id, viewer)
  if (story.userId === viewer || story.isViewed) return story

  await db.transaction().execute(async (trx) => {
    await lockVisibleStory(trx, id, viewer)
    await countView(trx, id, viewer)
  })
  return await readStory(db, id, viewer)
}

/** The caller holds the lock on the story's row. */
async function countView (trx: Trx, id: string, viewer: string) {
  const view = await trx.insertInto('story_views').values({ story_id: id, account_id: viewer })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (view) {
    await trx.updateTable('stories').where('id', '=', id).set((row) => ({ view_count: row('view_count', '+', 1) }))
      .execute()
  }
}

// Those that this process knows, and sequences of pictures that later ones may.
const EMOJI = /^(?:\p{RGI_Emoji}|\p{ExtPict}(?:\p{ExtPict}|\p{Emoji_Modifier}|\u200D|\uFE0E|\uFE0F)*)$/v

/** Whether it is one to four emoji. Words would be pushed to the author of the story. */
function isEmoji (text: string) {
  const characters = [...new Intl.Segmenter().segment(text)]
  return characters.length <= MAX_EMOJI && characters.every(({ segment }) => EMOJI.test(segment))
}

/**
 * Sets a person's reaction. A reaction also counts as a view, so the author sees that person among the viewers.
 * @throws NotEmoji, StoryNotFound, StoryExpired
 */
export async function reactToStory (
  db: Db,
  { storyId, accountId, emoji }: { storyId: string, accountId: string, emoji: string }
) {
  if (!isEmoji(emoji)) throw new NotEmoji()
  return await db.transaction().execute(async (trx) => {
    const story = await lockVisibleStory(trx, storyId, accountId)
    const previous = await trx.selectFrom('story_reactions').where('story_id', '=', storyId).where(
      'account_id',
      '=',
      accountId
    )
      .select(['emoji', 'created_at as createdAt']).executeTakeFirst()
    // The same emoji again changes nothing.
    if (previous?.emoji === emoji) return previous

    const reaction = await trx.insertInto('story_reactions').values({ story_id: storyId, account_id: accountId, emoji })
      .onConflict((conflict) =>
        conflict.columns(['story_id', 'account_id']).doUpdateSet({ emoji, created_at: sql`now()` })
      )
      .returning(['emoji', 'created_at as createdAt'])
      .executeTakeFirstOrThrow()
    if (!previous) {
      await trx.updateTable('stories').where('id', '=', storyId).set((row) => ({
        reaction_count: row('reaction_count', '+', 1)
      })).execute()
    }
    if (story.authorId !== accountId) await countView(trx, storyId, accountId)
    await publish(trx, StoryReacted, storyId, { storyId, authorId: story.authorId, reactedBy: accountId, emoji })
    return reaction
  })
}

/** Removes a person's reaction, also to a story that they can no longer see. @throws NotReacted, StoryNotFound, StoryExpired */
export async function removeReaction (db: Db, { storyId, accountId }: { storyId: string, accountId: string }) {
  await db.transaction().execute(async (trx) => {
    // The lock of every change to the reactions of a story.
    const story = await trx.selectFrom('stories').where('id', '=', storyId).select('author_id as authorId')
      .forNoKeyUpdate().executeTakeFirst()
    const { numDeletedRows } = await trx.deleteFrom('story_reactions').where('story_id', '=', storyId)
      .where('account_id', '=', accountId).executeTakeFirst()
    if (!story || numDeletedRows === 0n) {
      await readStory(trx, storyId, accountId)
      throw new NotReacted()
    }
    await lowerCounters(trx, 'stories', 'reaction_count', [storyId])
    await publish(trx, StoryUnreacted, storyId, { storyId, authorId: story.authorId, unreactedBy: accountId })
  })
}

/** @returns the image that it showed @throws StoryNotFound, StoryExpired, NotYourStory */
export async function deleteStory (db: Db, { id, accountId }: { id: string, accountId: string }) {
  return await db.transaction().execute(async (trx) => {
    const story = await lockVisibleStory(trx, id, accountId)
    if (story.authorId !== accountId) throw new NotYourStory()
    await trx.deleteFrom('stories').where('id', '=', id).execute()
    await publish(trx, StoryDeleted, id, { storyId: id, authorId: accountId })
    await detachMedia(trx, [{ accountId, image: story.mediaUrl }])
    return story.mediaUrl
  })
}

const CLEAR_BATCH_SIZE = 200

/**
 * Deletes the content of stories that expired a day ago. Their rows stay, so that reading one still returns
 * StoryExpired.
 * @throws the errors of those that failed, after all others are cleared
 */
export async function clearExpiredStories (db: Db) {
  await workLocked(db, {
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('stories').where('cleared_at', 'is', null)
        .where('expires_at', '<', sql<Date>`now() - interval '1 day'`)
        .where('id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .select(['id', 'author_id as accountId', 'media_url as image'])
        .orderBy('expires_at').limit(CLEAR_BATCH_SIZE).forUpdate().skipLocked()
        .execute(),
    async work (trx, expired) {
      const ids = expired.map((story) => story.id)
      await trx.deleteFrom('story_views').where('story_id', 'in', ids).execute()
      await trx.deleteFrom('story_reactions').where('story_id', 'in', ids).execute()
      await trx.updateTable('stories').where('id', 'in', ids)
        .set({
          cleared_at: sql`now()`,
          media_url: '',
          caption: null,
          text_color: null,
          bg_color: null,
          font_style: null
        })
        .execute()
      await detachMedia(trx, expired)
    }
  })
}
