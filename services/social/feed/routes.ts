import Type from 'typebox'
import { paginate, Data, data, Enum, Id, NextCursor, PageQuery, type Routes, Text } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { normalizeTag } from '../hashtags/parsing.ts'
import { toPostResponses, Post } from '../posts/post.ts'
import type { PostRow } from '../posts/queries.ts'
import { postTypes } from '../tables.ts'
import type { FeedQuery } from './pages.ts'
import { readAll, readDiscover, readFollowing, readByAuthor } from './queries.ts'
import { formatCursor, readTrending } from './trending.ts'

const feedTypes = ['all', 'following', 'discover', 'trending'] as const

export const feedRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.get('/feed', {
    schema: {
      operationId: 'listFeed',
      summary: 'Read a feed',
      description:
        'all: public posts and posts of followed users; following: posts of followed users only; discover: ' +
        'public posts of users the caller neither follows nor is matched with; trending: public posts with ' +
        'the most recent engagement.',
      querystring: PageQuery({
        feedType: Enum(feedTypes, { default: 'all' }),
        userId: Type.Optional({
          ...Id,
          description:
            "Only posts of this user: all posts for the caller's own id, public posts for another. feedType " +
            'is ignored then.'
        }),
        type: Type.Optional(Enum(postTypes)),
        hashtag: Type.Optional(
          // With the `#`.
          Text({ max: 101, description: 'Only posts with this hashtag. An extension of the published interface.' })
        ),
        mentioned: Type.Optional({
          ...Id,
          description: 'Only posts that mention the user with this id. An extension of the published interface.'
        })
      }),
      response: { 200: Data(Type.Object({ posts: Type.Array(Post), nextCursor: NextCursor })) }
    }
  }, async ({ query: { feedType, userId, hashtag, ...query }, account }) => {
    const filters = { ...query, hashtag: hashtag === undefined ? undefined : normalizeTag(hashtag) }
    const { page, nextCursor } = userId === undefined
      ? await readPage(feedType, account.id, filters)
      : paginateById(await readByAuthor(db, account.id, userId, filters), query.limit)
    return data({ posts: await toPostResponses(deps, page, account.id), nextCursor })
  })

  async function readPage (feedType: typeof feedTypes[number], reader: string, query: FeedQuery) {
    switch (feedType) {
      case 'all':
        return paginateById(await readAll(db, reader, query), query.limit)
      case 'following':
        return paginateById(await readFollowing(db, reader, query), query.limit)
      case 'discover':
        return paginateById(await readDiscover(db, reader, query), query.limit)
      case 'trending':
        return paginate(await readTrending(db, reader, query), query.limit, formatCursor)
    }
  }
}

const paginateById = (posts: PostRow[], limit: number) => paginate(posts, limit, (post) => post.id)
