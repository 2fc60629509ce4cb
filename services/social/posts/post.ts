import Type from 'typebox'
import { Enum, Nullable, Timestamp } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { Author, withAuthors } from '../people/authors.ts'
import { postTypes, visibilities } from '../tables.ts'
import type { PostRow } from './queries.ts'

export const Poll = Type.Object({
  question: Type.String(),
  options: Type.Array(Type.Object({ id: Type.String(), text: Type.String(), votesCount: Type.Integer() })),
  totalVotes: Type.Integer(),
  endsAt: Nullable(Timestamp),
  myVote: Nullable(Type.String({ description: 'The id of the option that the caller voted for' }))
}, {
  examples: [{
    question: 'When should we run?',
    options: [
      { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e21', text: 'At dawn', votesCount: 2 },
      { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e22', text: 'At dusk', votesCount: 1 }
    ],
    totalVotes: 3,
    endsAt: '2026-12-01T00:00:00.000Z',
    myVote: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e21'
  }]
})

export const Post = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  user: Author,
  type: Enum(postTypes),
  visibility: Enum(visibilities),
  content: Type.String(),
  mediaUrls: Type.Array(Type.String()),
  likesCount: Type.Integer(),
  commentsCount: Type.Integer(),
  isLiked: Type.Boolean({ description: 'Whether the caller likes this post' }),
  createdAt: Timestamp,
  isDeleted: Type.Boolean(),
  poll: Type.Optional(Poll)
}, {
  examples: [{
    id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e12',
    userId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10',
    user: { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10', name: 'Ana', image: null },
    type: 'TEXT',
    visibility: 'PUBLIC',
    content: 'Morning run with @ben #running',
    mediaUrls: [],
    likesCount: 3,
    commentsCount: 1,
    isLiked: true,
    createdAt: '2026-11-20T06:30:00.000Z',
    isDeleted: false
  }]
})

/** Posts as the API returns them to `viewer`. */
export async function toPostResponses (
  deps: Deps,
  rows: PostRow[],
  viewer: string
): Promise<Type.Static<typeof Post>[]> {
  const posts = await withAuthors(deps, rows, viewer)
  return posts.map(({ poll, ...post }) => ({
    ...post,
    mediaUrls: post.mediaUrls.map((image) => deps.media.urlOf(image)),
    ...(poll && { poll: { ...poll, endsAt: poll.endsAt && new Date(poll.endsAt) } })
  }))
}
