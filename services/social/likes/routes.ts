import Type from 'typebox'
import { paginate, Data, data, Id, NextCursor, PageQuery, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { withPeople } from '../people/authors.ts'
import { Person } from '../people/person.ts'
import { ensureVisiblePost } from '../posts/visibility.ts'
import { likePost, unlikePost } from './actions.ts'
import { listLikers } from './queries.ts'

const params = Type.Object({ id: Id })

export const likeRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.post('/feed/:id/like', {
    schema: {
      summary: 'Like a post',
      description: 'Its author is told. 400 ALREADY_LIKED when the caller likes it already.',
      params,
      response: { 200: Data(Type.Object({ liked: Type.Literal(true) })) }
    }
  }, async ({ params, account }) => {
    await likePost(db, { postId: params.id, accountId: account.id })
    return data({ liked: true })
  })

  app.delete('/feed/:id/like', {
    schema: {
      summary: 'Take a like back',
      description: '400 NOT_LIKED when the caller does not like it.',
      params,
      response: { 200: Data(Type.Object({ liked: Type.Literal(false) })) }
    }
  }, async ({ params, account }) => {
    await unlikePost(db, { postId: params.id, accountId: account.id })
    return data({ liked: false })
  })

  app.get('/feed/:id/likes', {
    schema: {
      summary: 'List who likes a post, newest first',
      'x-extension': true,
      params,
      querystring: PageQuery(),
      response: { 200: Data(Type.Object({ users: Type.Array(Person), nextCursor: NextCursor })) }
    }
  }, async ({ params, query, account }) => {
    await ensureVisiblePost(db, params.id, account.id)
    const { page, nextCursor } = paginate(await listLikers(db, params.id, account.id, query), query.limit, (row) => row.cursorId)
    return data({ users: await withPeople(deps, page, account.id), nextCursor })
  })
}
