import Type from 'typebox'
import { Enum, Nullable, Timestamp, named } from '@tandem/http-kit'
import { Picture } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import { Author, findAuthors } from '../people/authors.ts'
import { findHashtags } from '../hashtags/parsing.ts'
import { describeMedia } from '../media/queries.ts'
import { findMentions } from '../mentions/parsing.ts'
import { Poll, toPollResponse } from '../polls/poll.ts'
import { postTypes, visibilities } from '../tables.ts'
import type { PostRow } from './queries.ts'
import { snapshotFields, toSnapshotResponses } from './snapshots.ts'

const Position = Type.Integer({ description: 'A position in `content`, in UTF-16 code units' })
const Mention = named(
  'Mention',
  Type.Object({ userId: Type.String(), username: Type.String(), start: Position, end: Position })
)
const Hashtag = named('Hashtag', Type.Object({ tag: Type.String(), start: Position, end: Position }))

export const PostType = named('PostType', Enum(postTypes))
export const Visibility = named('Visibility', Enum(visibilities))

export const Post = named(
  'Post',
  Type.Object({
    id: Type.String(),
    userId: Type.String(),
    user: Author,
    type: PostType,
    visibility: Visibility,
    content: Type.String(),
    mediaUrls: Type.Array(Type.String()),
    media: Type.Array(Picture, { description: 'The same as mediaUrls, with what an app needs to lay them out' }),
    mediaType: Nullable(Type.String(), { description: 'The MIME type that the author gave' }),
    likesCount: Type.Integer(),
    commentsCount: Type.Integer(),
    viewCount: Nullable(Type.Integer(), {
      description: 'How often others have read this post; null for all but its author'
    }),
    isLiked: Type.Boolean({ description: 'Whether the caller likes this post' }),
    createdAt: Timestamp,
    editedAt: Nullable(Timestamp, { description: 'When its text was last changed' }),
    isDeleted: Type.Boolean(),
    isHidden: Type.Boolean({ description: 'Whether operators have hidden it from everybody but its author' }),
    mentions: Type.Array(Mention, { description: 'The mentions of people that the caller can see, in text order' }),
    ...snapshotFields,
    hashtags: Type.Array(Hashtag, { description: 'The hashtags in the text, in text order' }),
    poll: Type.Optional(Poll)
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e12',
      userId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10',
      user: { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10', name: 'Ana', username: 'ana', image: null },
      type: 'TEXT',
      visibility: 'PUBLIC',
      content: 'Morning run with @ben #running',
      mediaUrls: [],
      media: [],
      mediaType: null,
      likesCount: 3,
      commentsCount: 1,
      viewCount: null,
      isLiked: true,
      createdAt: '2026-11-20T06:30:00.000Z',
      editedAt: null,
      isDeleted: false,
      isHidden: false,
      mentions: [{ userId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e11', username: 'ben', start: 17, end: 21 }],
      hashtags: [{ tag: 'running', start: 22, end: 30 }],
      workout: null,
      achievement: null,
      activity: null,
      location: { name: 'Lapangan Gasibu', latitude: -6.9, longitude: 107.62 }
    }]
  })
)

/** Posts as the API returns them to `viewer`. */
export async function toPostResponses (
  deps: Deps,
  rows: PostRow[],
  viewer: string
): Promise<Type.Static<typeof Post>[]> {
  const authorOf = await findAuthors(deps, rows, viewer)
  return rows.map((post) => ({
    id: post.id,
    userId: post.userId,
    user: authorOf(post),
    type: post.type,
    visibility: post.visibility,
    content: post.content,
    mediaUrls: post.mediaUrls.map((image) => deps.media.urlOf(image)),
    media: post.mediaUrls.map((image) =>
      describeMedia(deps.media, post.mediaDetails, image, post.type === 'VIDEO' ? 'VIDEO' : 'IMAGE')
    ),
    mediaType: post.mediaType,
    likesCount: post.likesCount,
    commentsCount: post.commentsCount,
    viewCount: post.userId === viewer ? post.viewCount : null,
    isLiked: post.isLiked,
    createdAt: post.createdAt,
    editedAt: post.editedAt,
    isDeleted: false,
    isHidden: post.isHidden,
    mentions: findMentions(post.content).flatMap((span) => {
      const person = post.mentioned?.find(({ username }) => username === span.username)
      return person ? [{ userId: person.userId, ...span }] : []
    }),
    hashtags: findHashtags(post.content),
    ...toSnapshotResponses(post),
    ...(post.poll && { poll: toPollResponse(post.poll) })
  }))
}
