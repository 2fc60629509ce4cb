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
  type Page,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound, AlreadyFollowing, CannotFollowSelf, NotFollowing } from '../errors.ts'
import { ensurePerson } from '../people/actions.ts'
import { PageOfPeople, withPeople } from '../people/authors.ts'
import { isPersonVisibleTo } from '../people/queries.ts'
import { follow, unfollow } from './actions.ts'
import { listFollows } from './queries.ts'

const params = Type.Object({ userId: Id })

export const followRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.post('/users/:userId/follow', {
    schema: {
      operationId: 'followUser',
      summary: 'Follow a user',
      description: 'The followed user is notified.',
      'x-extension': true,
      params,
      headers: IdempotencyHeaders,
      errors: [PersonNotFound, AlreadyFollowing, CannotFollowSelf, IdempotencyConflict],
      response: { 200: Data(Type.Object({ following: Type.Literal(true) })) }
    }
  }, async (request) => {
    const { params: { userId }, account } = request
    await ensurePerson(deps, userId)
    await follow(db, { followerId: account.id, followedId: userId }, readIdempotencyKey(request))
    return data({ following: true })
  })

  app.delete('/users/:userId/follow', {
    schema: {
      operationId: 'unfollowUser',
      summary: 'Unfollow a user',
      description: 'The followed user is not notified.',
      'x-extension': true,
      params,
      errors: [PersonNotFound, NotFollowing],
      response: { 200: Data(Type.Object({ following: Type.Literal(false) })) }
    }
  }, async ({ params: { userId }, account }) => {
    await ensurePerson(deps, userId)
    await unfollow(db, { followerId: account.id, followedId: userId })
    return data({ following: false })
  })

  app.get('/users/:userId/followers', {
    schema: {
      operationId: 'listFollowers',
      summary: 'List the followers of a user, newest first',
      description: 'Each with whether the caller follows them.',
      'x-extension': true,
      params,
      querystring: PageQuery(),
      errors: [PersonNotFound],
      response: { 200: PageOfPeople }
    }
  }, async ({ params: { userId }, query, account }) => await listPage('FOLLOWERS', userId, account.id, query))

  app.get('/users/:userId/following', {
    schema: {
      operationId: 'listFollowing',
      summary: 'List the users that a user follows, newest first',
      description: 'Each with whether the caller follows them.',
      'x-extension': true,
      params,
      querystring: PageQuery(),
      errors: [PersonNotFound],
      response: { 200: PageOfPeople }
    }
  }, async ({ params: { userId }, query, account }) => await listPage('FOLLOWING', userId, account.id, query))

  async function listPage (list: 'FOLLOWERS' | 'FOLLOWING', userId: string, viewerId: string, query: Page) {
    await ensurePerson(deps, userId)
    if (!await isPersonVisibleTo(db, userId, viewerId)) throw new PersonNotFound()
    const { page, nextCursor } = paginate(
      await listFollows(db, list, userId, viewerId, query),
      query.limit,
      (row) => row.cursorId
    )
    return data({ users: await withPeople(deps, page, viewerId), nextCursor })
  }
}
