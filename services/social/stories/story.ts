import Type from 'typebox'
import { Enum, Nullable, Timestamp, named } from '@tandem/http-kit'
import { examplePicture, Picture } from '@tandem/media-kit'
import { Author } from '../people/authors.ts'
import { storyMediaTypes } from '../tables.ts'

export const Story = named(
  'Story',
  Type.Object({
    id: Type.String(),
    userId: Type.String(),
    user: Author,
    mediaUrl: Type.String(),
    mediaType: Enum(storyMediaTypes),
    media: Picture,
    caption: Nullable(Type.String()),
    textColor: Nullable(Type.String()),
    bgColor: Nullable(Type.String()),
    fontStyle: Nullable(Type.String()),
    duration: Nullable(Type.Number({ description: 'Seconds; only for a VIDEO' })),
    expiresAt: Timestamp,
    createdAt: Timestamp,
    viewCount: Type.Integer({ description: 'The number of viewers, without the author' }),
    reactionCount: Type.Integer(),
    isViewed: Type.Boolean({ description: 'Whether the caller has viewed the story' }),
    myReaction: Nullable(Type.String()),
    isHidden: Type.Boolean({ description: 'Whether operators have hidden it from everybody but its author' })
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e41',
      userId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10',
      user: { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10', name: 'Ana', username: 'ana', image: null },
      mediaUrl: 'https://cdn.example.com/public/1b4e28ba-2fa1-41d2-883f-0016d3cca427.webp',
      mediaType: 'IMAGE',
      media: examplePicture,
      caption: 'At the top',
      textColor: '#ffffff',
      bgColor: null,
      fontStyle: 'bold',
      duration: null,
      expiresAt: '2026-11-21T06:30:00.000Z',
      createdAt: '2026-11-20T06:30:00.000Z',
      viewCount: 4,
      reactionCount: 1,
      isViewed: true,
      myReaction: '🔥',
      isHidden: false
    }]
  })
)

export const Ring = named(
  'StoryRing',
  Type.Object({
    userId: Type.String(),
    userName: Type.String(),
    userImage: Nullable(Type.String()),
    storyCount: Type.Integer(),
    hasUnviewed: Type.Boolean(),
    latestStoryAt: Timestamp,
    isOwn: Type.Boolean()
  }, {
    examples: [{
      userId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10',
      userName: 'Ana',
      userImage: null,
      storyCount: 2,
      hasUnviewed: true,
      latestStoryAt: '2026-11-20T06:30:00.000Z',
      isOwn: false
    }]
  })
)

export const Viewer = named(
  'StoryViewer',
  Type.Object({ user: Author, viewedAt: Timestamp, reaction: Nullable(Type.String()) }, {
    examples: [{
      user: { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e11', name: 'Ben', username: 'ben', image: null },
      viewedAt: '2026-11-20T07:00:00.000Z',
      reaction: '🔥'
    }]
  })
)
