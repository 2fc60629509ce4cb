import Type from 'typebox'
import { Data, data, named, NotModified, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { listTrendingTags } from './queries.ts'

const TrendingTag = named(
  'TrendingHashtag',
  Type.Object({ tag: Type.String(), postsCount: Type.Integer() }, {
    examples: [{ tag: 'running', postsCount: 42 }]
  })
)

export const hashtagRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/hashtags/trending', {
    schema: {
      operationId: 'listTrendingHashtags',
      summary: 'List trending hashtags',
      description: 'The 20 hashtags that most people used in public posts of the last seven days.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ hashtags: Type.Array(TrendingTag) })), 304: NotModified }
    }
  }, async ({ account }) => data({ hashtags: await listTrendingTags(db, account.id) }))
}
