import Type from 'typebox'
import { paginate, Data, data, Enum, Id, NextCursor, PageQuery, type Routes, Text } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { foldTag } from '../hashtags/parsing.ts'
import { describePosts, Post } from '../posts/post.ts'
import type { PostRow } from '../posts/queries.ts'
import { postTypes } from '../tables.ts'
import { readAll, readDiscover, readFollowing, readOfPerson, type FeedQuery } from './queries.ts'
import { cursorOf, readTrending } from './trending.ts'

const feedTypes = ['all', 'following', 'discover', 'trending'] as const

export const feedRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.get('/feed', {
    schema: {
      summary: 'Read a feed',
      description: 'all: public posts and those of followed people; following: followed people only; discover: public posts of people the caller has nothing to do with yet; trending: what people take part in just now.',
      querystring: PageQuery({
        feedType: Enum(feedTypes, { default: 'all' }),
        userId: Type.Optional({ ...Id, description: 'Only posts of this person: all of the caller himself, the public ones of another. The kind of feed is of no importance then.' }),
        type: Type.Optional(Enum(postTypes)),
        hashtag: Type.Optional(Text({ max: 100, description: 'Only posts with this tag. An addition to the published interface.' })),
        mentioned: Type.Optional({ ...Id, description: 'Only posts that mention the person with this id. An addition to the published interface.' })
      }),
      response: { 200: Data(Type.Object({ posts: Type.Array(Post), nextCursor: NextCursor })) }
    }
  }, async ({ query: { feedType, userId, hashtag, ...query }, account }) => {
    const filters = { ...query, hashtag: hashtag === undefined ? undefined : foldTag(hashtag) }
    const { page, nextCursor } = userId === undefined
      ? await readPage(feedType, account.id, filters)
      : cutById(await readOfPerson(db, account.id, userId, filters), query.limit)
    return data({ posts: await describePosts(deps, page, account.id), nextCursor })
  })

  async function readPage (feedType: typeof feedTypes[number], reader: string, query: FeedQuery) {
    switch (feedType) {
      case 'all': return cutById(await readAll(db, reader, query), query.limit)
      case 'following': return cutById(await readFollowing(db, reader, query), query.limit)
      case 'discover': return cutById(await readDiscover(db, reader, query), query.limit)
      case 'trending': return paginate(await readTrending(db, reader, query), query.limit, cursorOf)
    }
  }
}

const cutById = (posts: PostRow[], limit: number) => paginate(posts, limit, (post) => post.id)
