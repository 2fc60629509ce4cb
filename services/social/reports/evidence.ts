import { sql } from 'kysely'
import type { Evidence, Target } from '@tandem/case-kit'
import { isMediaKey } from '@tandem/media-url-kit'
import { readComment, readCommentOnOwnPost } from '../comments/queries.ts'
import { CommentNotFound, PersonNotFound } from '../errors.ts'
import { isPersonVisibleTo } from '../people/queries.ts'
import type { TargetType, Trx } from '../tables.ts'
import { lockVisiblePost } from '../visibility/posts.ts'
import { lockVisibleStory } from '../visibility/stories.ts'

const COMMENTS_AROUND = 5

export interface Reported {
  target: Target
  evidence: Evidence
}

/** What a report is about. Each is locked, so that its author cannot change it until the evidence is stored. */
export const readReported: Record<TargetType, (trx: Trx, id: string, reporter: string) => Promise<Reported>> = {
  async POST (trx, id, reporter) {
    const { authorId } = await lockVisiblePost(trx, id, reporter)
    const post = await readPost(trx, id)
    return {
      target: { type: 'POST', id, accountId: authorId },
      evidence: {
        content: post,
        context: await readAuthor(trx, authorId),
        others: [],
        files: post.mediaUrls.filter(isMediaKey)
      }
    }
  },
  async COMMENT (trx, id, reporter) {
    const place = await trx.selectFrom('comments').where('id', '=', id).select(['post_id as postId'])
      .executeTakeFirst()
    if (!place) throw new CommentNotFound()
    const { authorId: postAuthorId } = await lockVisiblePost(trx, place.postId, reporter)
    const key = { id, postId: place.postId }
    const { userId, content, parentId } = reporter === postAuthorId
      ? await readCommentOnOwnPost(trx, key)
      : await readComment(trx, key, reporter)
    const around = await readAround(trx, { id, postId: place.postId, parentId, authorId: userId })
    const context = {
      ...await readAuthor(trx, userId),
      post: { ...await readPost(trx, place.postId), authorId: postAuthorId },
      around
    }
    const comments = [...around.parent ? [around.parent] : [], ...around.before]
    const others = [postAuthorId, ...comments.flatMap(({ authorId }) => authorId ?? [])]
    return {
      target: { type: 'COMMENT', id, accountId: userId },
      evidence: { content: { content }, context, others, files: [] }
    }
  },
  async STORY (trx, id, reporter) {
    const { authorId } = await lockVisibleStory(trx, id, reporter)
    const story = await trx.selectFrom('stories').where('id', '=', id)
      .select(['caption', 'media_url as mediaUrl', 'media_type as mediaType', 'created_at as createdAt'])
      .executeTakeFirstOrThrow()
    return {
      target: { type: 'STORY', id, accountId: authorId },
      evidence: {
        content: story,
        context: await readAuthor(trx, authorId),
        others: [],
        files: [story.mediaUrl].filter(isMediaKey)
      }
    }
  },
  async USER (trx, id, reporter) {
    if (!await isPersonVisibleTo(trx, id, reporter)) throw new PersonNotFound()
    const person = await trx.selectFrom('people').where('account_id', '=', id)
      .select(['name', 'username', 'bio', 'image']).forKeyShare().executeTakeFirst()
    if (!person) throw new PersonNotFound()
    return {
      target: { type: 'USER', id, accountId: id },
      evidence: { content: person, context: {}, others: [], files: [person.image ?? ''].filter(isMediaKey) }
    }
  }
}

const readPost = async (trx: Trx, id: string) =>
  await trx.selectFrom('posts').leftJoin('polls', 'polls.post_id', 'posts.id').where('posts.id', '=', id)
    .select([
      'type',
      'visibility',
      'content',
      'media_urls as mediaUrls',
      'created_at as createdAt',
      'polls.question as pollQuestion',
      sql<string[]>`array(select text from poll_options where poll_options.post_id = posts.id order by position)`
        .as('pollOptions'),
      sql<string[]>`array_remove(array[location_name, workout ->> 'name', activity ->> 'title',
        activity ->> 'locationName'], null)`.as('otherTexts')
    ])
    .executeTakeFirstOrThrow()

/** The author as people saw them. */
async function readAuthor (trx: Trx, authorId: string) {
  const author = await trx.selectFrom('people').where('account_id', '=', authorId).select(['name', 'username', 'image'])
    .executeTakeFirst()
  return { author: author ?? null }
}

/** The comment that is replied to, and the comments before. Each goes once its author is erased. */
async function readAround (
  trx: Trx,
  { id, postId, parentId, authorId }: { id: string, postId: string, parentId: string | null, authorId: string }
) {
  const columns = [
    'content',
    'author_id as authorId',
    'created_at as createdAt',
    sql<boolean>`author_id = ${authorId}`.as('isByReported')
  ] as const
  const parent = parentId === null
    ? undefined
    : await trx.selectFrom('comments').where('id', '=', parentId).select(columns).executeTakeFirst()
  const before = await trx.selectFrom('comments').where('post_id', '=', postId).where('id', '<', id)
    .where((row) => parentId === null ? row('parent_id', 'is', null) : row('parent_id', '=', parentId))
    .select(columns).orderBy('id', 'desc').limit(COMMENTS_AROUND).execute()
  return { parent: parent ?? null, before: before.reverse() }
}
