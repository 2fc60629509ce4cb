import Type from 'typebox'
import { Nullable, Timestamp, named } from '@tandem/http-kit'
import { Picture } from '@tandem/media-kit'

export const ChatMessage = named(
  'ChatMessage',
  Type.Object({
    id: Type.String(),
    matchId: Type.String(),
    senderId: Type.String({ description: 'The FitMatch profile of the sender' }),
    isMine: Type.Boolean(),
    content: Nullable(Type.String()),
    imageUrl: Nullable(Type.String()),
    image: Nullable(Picture),
    createdAt: Timestamp,
    readAt: Nullable(Timestamp)
  }, {
    examples: [{
      id: '019aa1f0-0000-7000-8000-000000000006',
      matchId: '019aa1f0-0000-7000-8000-000000000005',
      senderId: '019aa1f0-0000-7000-8000-000000000007',
      isMine: true,
      content: 'Hi!',
      imageUrl: null,
      image: null,
      createdAt: '2026-01-31T09:00:00.000Z',
      readAt: null
    }]
  })
)
