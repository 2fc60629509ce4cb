import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  paginate,
  Data,
  data,
  Id,
  IdempotencyHeaders,
  PageQuery,
  readIdempotencyKey,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { postErrors, AlreadyLiked, NotLiked } from '../errors.ts'
import { PageOfPeople, withPeople } from '../people/authors.ts'
import { readVisiblePost } from '../visibility/posts.ts'
import { likePost, unlikePost } from './actions.ts'
import { listLikers } from './queries.ts'

const params = Type.Object({ id: Id })

export const likeRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.post('/feed/:id/like', {
    schema: {
      operationId: 'likePost',
      summary: 'Like a post',
      description: 'The author is notified.',
      params,
      headers: IdempotencyHeaders,
      errors: [...postErrors, AlreadyLiked, IdempotencyConflict],
      response: { 200: Data(Type.Object({ liked: Type.Literal(true) })) }
    }
  }, async (request) => {
    const { params, account } = request
    await likePost(db, { postId: params.id, accountId: account.id }, readIdempotencyKey(request))
    return data({ liked: true })
  })

  app.delete('/feed/:id/like', {
    schema: {
      operationId: 'unlikePost',
      summary: 'Unlike a post',
      description: 'The notification of the like is withdrawn.',
      params,
      errors: [...postErrors, NotLiked],
      response: { 200: Data(Type.Object({ liked: Type.Literal(false) })) }
    }
  }, async ({ params, account }) => {
    await unlikePost(db, { postId: params.id, accountId: account.id })
    return data({ liked: false })
  })

  app.get('/feed/:id/likes', {
    schema: {
      operationId: 'listLikes',
      summary: 'List the users who like a post, newest first',
      description: 'Only for a post that the caller can read.',
      'x-extension': true,
      params,
      querystring: PageQuery(),
      errors: postErrors,
      response: { 200: PageOfPeople }
    }
  }, async ({ params, query, account }) => {
    await readVisiblePost(db, params.id, account.id)
    const { page, nextCursor } = paginate(
      await listLikers(db, params.id, account.id, query),
      query.limit,
      (row) => row.cursorId
    )
    return data({ users: await withPeople(deps, page, account.id), nextCursor })
  })
}
