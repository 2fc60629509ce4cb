import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import {
  AchievementShared,
  AchievementUnshared,
  PostCreated,
  PostDeleted,
  PostEdited,
  PostNarrowed
} from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { NotYourPost, PostEmpty, PostNotFound } from '../errors.ts'
import { insertHashtags, replaceHashtags } from '../hashtags/actions.ts'
import { attachMedia, detachMedia } from '../media/actions.ts'
import { createMentions, updateMentions } from '../mentions/actions.ts'
import { insertPoll, type NewPoll } from '../polls/actions.ts'
import type { Db, PostType, Trx, Visibility } from '../tables.ts'
import { publishClosed } from '../visibility/closed-posts.ts'
import { excerptOf, lockVisiblePost } from '../visibility/posts.ts'
import { findPost } from './queries.ts'
import { roundDegrees, type Snapshots } from './snapshots.ts'

export interface NewPost {
  authorId: string
  type: PostType
  visibility: Visibility
  content: string
  /** As stored: storage keys, or URLs of other hosts. */
  mediaUrls: string[]
  mediaType: string | null
  snapshots: Snapshots
  locationName: string | null
  latitude: number | null
  longitude: number | null
  poll: NewPoll | null
}

const achievementIdOf = sql<string | null>`achievement ->> 'id'`.as('achievementId')

const showsNothing = sql<boolean>`content = '' and media_urls = '{}' and type <> 'POLL'
  and coalesce(activity_id, workout_id, achievement_id, location_name) is null`.as('isEmpty')

/** @throws PostEmpty, MediaGone */
export async function createPost (db: Db, post: NewPost, idempotencyKey?: IdempotencyKey) {
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    const { authorId, type, visibility, content, mediaUrls, poll, latitude, longitude } = post
    const { workout, achievement, activity } = post.snapshots
    await attachMedia(trx, mediaUrls)
    const { id, isEmpty } = await trx.insertInto('posts')
      .values({
        author_id: authorId,
        type,
        visibility,
        content,
        media_urls: mediaUrls,
        media_type: post.mediaType,
        activity_id: activity?.id ?? null,
        workout_id: workout?.id ?? null,
        achievement_id: achievement?.id ?? null,
        workout: workout && JSON.stringify(workout),
        achievement: achievement && JSON.stringify(achievement),
        activity: activity && JSON.stringify(activity),
        location_name: post.locationName,
        latitude: latitude === null ? null : roundDegrees(latitude),
        longitude: longitude === null ? null : roundDegrees(longitude)
      })
      .returning(['id', showsNothing])
      .executeTakeFirstOrThrow()
    if (isEmpty) throw new PostEmpty()
    if (poll) await insertPoll(trx, id, poll)
    if (visibility === 'PUBLIC') await publish(trx, PostCreated, id, { postId: id, authorId })
    if (achievement) {
      await publish(trx, AchievementShared, id, { postId: id, authorId, achievementId: achievement.id })
    }
    await insertHashtags(trx, id, content)
    await createMentions(trx, { post: { id, authorId, visibility }, commentId: null, authorId, content })
    return await findPost(trx, id, authorId) ?? failUnreadable(id)
  })
}

/** @throws NotYourPost, PostEmpty, and the errors of reading the post */
export async function updatePost (db: Db, { id, accountId, content, visibility }: {
  id: string,
  accountId: string,
  content?: string | undefined,
  visibility?: Visibility | undefined
}) {
  return await db.transaction().execute(async (trx) => {
    const post = await lockOwnPost(trx, id, accountId)
    const changed = { content: content ?? post.content, visibility: visibility ?? post.visibility }
    const isEdited = changed.content !== post.content
    const { isEmpty } = await trx.updateTable('posts').where('id', '=', id)
      .set({ ...changed, ...isEdited && { edited_at: new Date() } })
      .returning(showsNothing).executeTakeFirstOrThrow()
    if (isEdited && isEmpty) throw new PostEmpty()
    if (changed.visibility !== 'PUBLIC' && changed.visibility !== post.visibility && post.visibility !== 'PRIVATE') {
      await publish(trx, PostNarrowed, id, { postId: id, authorId: accountId, visibility: changed.visibility })
      await publishClosed(trx, id)
    }
    if (isEdited) {
      // Before new mentions, which are then younger than the change.
      const excerpt = excerptOf(changed.content, changed.visibility)
      await publish(trx, PostEdited, id, { postId: id, authorId: accountId, excerpt })
    }
    await replaceHashtags(trx, id, changed.content)
    await updateMentions(trx, {
      post: { id, authorId: accountId, visibility: changed.visibility },
      commentId: null,
      authorId: accountId,
      content: changed.content
    })
    return await findPost(trx, id, accountId) ?? failUnreadable(id)
  })
}

/** @returns the images that it showed @throws NotYourPost, and the errors of reading the post */
export async function deletePost (db: Db, { id, accountId }: { id: string, accountId: string }) {
  return await db.transaction().execute(async (trx) => {
    await lockOwnPost(trx, id, accountId)
    const { images, achievementId } = await trx.updateTable('posts').where('id', '=', id).set({
      deleted_at: new Date()
    })
      .returning(['media_urls as images', achievementIdOf]).executeTakeFirstOrThrow()
    await detachMedia(trx, images.map((image) => ({ accountId, image })))
    await publish(trx, PostDeleted, id, { postId: id, authorId: accountId })
    if (achievementId !== null) {
      await publish(trx, AchievementUnshared, id, { postId: id, authorId: accountId, achievementId })
    }
    return images
  })
}

async function lockOwnPost (trx: Trx, id: string, accountId: string) {
  const post = await lockVisiblePost(trx, id, accountId)
  if (post.authorId !== accountId) throw new NotYourPost()
  return post
}

function failUnreadable (id: string): never {
  throw new PostNotFound({ cause: `the author cannot read ${id}` })
}
