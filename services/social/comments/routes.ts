import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  Body,
  paginate,
  Data,
  data,
  Id,
  readIdempotencyKey,
  Message,
  message,
  NextCursor,
  Nullable,
  PageQuery,
  IdempotencyHeaders,
  Text,
  Timestamp,
  named,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { postErrors, CommentNotFound, NotYourComment } from '../errors.ts'
import { ensureMentionedPeople } from '../mentions/actions.ts'
import { Author, nobody, withAuthors } from '../people/authors.ts'
import { readVisiblePost } from '../visibility/posts.ts'
import { createComment, deleteComment } from './actions.ts'
import { isShown, listComments, readPlace, type CommentRow } from './queries.ts'

const Comment = named(
  'Comment',
  Type.Object({
    id: Type.String(),
    postId: Type.String(),
    parentId: Nullable(Type.String({ description: 'The top-level comment that this one replies to' })),
    content: Type.String(),
    user: Author,
    repliesCount: Type.Integer(),
    isDeleted: Type.Boolean({
      description: 'Whether it is only the place of its replies: it was deleted, or the caller cannot see it'
    }),
    createdAt: Timestamp
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e31',
      postId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e12',
      parentId: null,
      content: 'Well done!',
      user: { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e11', name: 'Ben', username: 'ben', image: null },
      repliesCount: 0,
      isDeleted: false,
      createdAt: '2026-11-20T07:00:00.000Z'
    }]
  })
)

const params = Type.Object({ id: Id })

export const commentRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  async function toResponses (rows: CommentRow[], viewer: string) {
    const comments = await withAuthors(deps, rows.filter(isShown), viewer)
    const shown = new Map(comments.map((comment) => [comment.id, { ...comment, isDeleted: false }]))
    return rows.map(({ name, username, image, userId, ...place }) =>
      shown.get(place.id) ?? { ...place, user: nobody, isDeleted: true }
    )
  }

  app.get('/feed/:id/comment', {
    schema: {
      operationId: 'listComments',
      summary: 'List the comments of a post, or the replies to one, oldest first',
      description: 'Without `parentId`, top-level comments with the number of their replies.',
      params,
      querystring: PageQuery({ parentId: Type.Optional({ ...Id, description: 'List the replies to this comment' }) }),
      errors: [...postErrors, CommentNotFound],
      response: { 200: Data(Type.Object({ comments: Type.Array(Comment), nextCursor: NextCursor })) }
    }
  }, async ({ params: { id }, query, account }) => {
    await readVisiblePost(db, id, account.id)
    const { page, nextCursor } = paginate(
      await listComments(db, id, account.id, query),
      query.limit,
      (comment) => comment.id
    )
    return data({ comments: await toResponses(page, account.id), nextCursor })
  })

  app.post('/feed/:id/comment', {
    schema: {
      operationId: 'createComment',
      summary: 'Comment on a post, or reply to a comment',
      description: 'The author of the post or of the parent comment is notified, and so are mentioned users who can ' +
        'read the post. A reply to a reply becomes a reply to the top-level comment.',
      headers: IdempotencyHeaders,
      params,
      body: Body({
        content: Text({ max: 2_000, description: 'Can contain @mentions' }),
        parentId: Type.Optional(Nullable(Id))
      }, { examples: [{ content: 'Well done, @ana!' }] }),
      errors: [...postErrors, CommentNotFound, IdempotencyConflict],
      response: { 201: Data(Type.Object({ comment: Comment })) }
    }
  }, async (request, reply) => {
    const { params, body, account } = request
    await ensureMentionedPeople(deps, body.content)
    const row = await createComment(
      db,
      {
        postId: params.id,
        parentId: body.parentId ?? null,
        authorId: account.id,
        content: body.content
      },
      readIdempotencyKey(request)
    )
    const [comment] = await toResponses([row], account.id)
    reply.code(201)
    return data({ comment: comment! })
  })

  app.get('/feed/:id/comment/:commentId', {
    schema: {
      operationId: 'getComment',
      summary: 'Get a comment',
      description: 'For an app that opens a notification. `parentId` is the comment among whose replies it is listed.',
      'x-extension': true,
      params: Type.Object({ id: Id, commentId: Id }),
      errors: [...postErrors, CommentNotFound],
      response: { 200: Data(Type.Object({ comment: Comment })) }
    }
  }, async ({ params, account }) => {
    await readVisiblePost(db, params.id, account.id)
    const row = await readPlace(db, { id: params.commentId, postId: params.id }, account.id)
    const [comment] = await toResponses([row], account.id)
    return data({ comment: comment! })
  })

  app.delete('/feed/:id/comment/:commentId', {
    schema: {
      operationId: 'deleteComment',
      summary: 'Delete a comment',
      description:
        'Only for the author of the comment or of the post. Its replies stay, below a comment without author ' +
        'and text.',
      'x-extension': true,
      params: Type.Object({ id: Id, commentId: Id }),
      errors: [...postErrors, CommentNotFound, NotYourComment],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await deleteComment(db, { id: params.commentId, postId: params.id, accountId: account.id })
    return message('The comment was deleted')
  })
}
