import Type from 'typebox'
import { Data, data, Enum, Nullable, Timestamp, named, NotModified, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { participantErrors } from '../errors.ts'
import { readParticipant } from '../people/queries.ts'
import { withPhotos } from '../photos/describe.ts'
import { CandidatePhoto, exampleCandidatePhoto } from '../photos/schemas.ts'
import { matchTypes } from '../tables.ts'
import { countMatches, listConversations, listNewMatches } from './queries.ts'

const profile = named(
  'MatchedProfile',
  Type.Object({
    id: Type.String(),
    displayName: Type.String(),
    age: Nullable(Type.Integer()),
    photos: Type.Array(CandidatePhoto)
  })
)
const match = {
  matchId: Type.String(),
  matchType: Enum(matchTypes),
  matchedAt: Timestamp,
  profile
}
const exampleMatch = {
  matchId: '019aa1f0-0000-7000-8000-000000000005',
  matchType: 'LIKE',
  matchedAt: '2026-01-31T08:00:00.000Z',
  profile: {
    id: '019aa1f0-0000-7000-8000-000000000004',
    displayName: 'Ben',
    age: 31,
    photos: [exampleCandidatePhoto]
  }
}

const Matches = Type.Object({
  newMatches: Type.Array(named('Match', Type.Object(match))),
  conversations: Type.Array(named(
    'Conversation',
    Type.Object({
      ...match,
      lastMessage: Type.Object({
        content: Nullable(Type.String()),
        imageUrl: Nullable(Type.String()),
        createdAt: Timestamp,
        isMine: Type.Boolean()
      }),
      unreadCount: Type.Integer()
    })
  )),
  totalMatches: Type.Integer()
}, {
  examples: [{
    newMatches: [exampleMatch],
    conversations: [{
      ...exampleMatch,
      lastMessage: { content: 'Hi!', imageUrl: null, createdAt: '2026-01-31T09:00:00.000Z', isMine: false },
      unreadCount: 1
    }],
    totalMatches: 2
  }]
})

export const matchRoutes: Routes<Deps> = async (app, { db, media }) => {
  app.get('/fitmatch/matches', {
    schema: {
      operationId: 'listMatches',
      summary: 'List my matches',
      description:
        '`new` lists matches without a message, `conversations` those with messages. Without `type`, both are listed.',
      querystring: Type.Object({ type: Enum(['new', 'conversations', ''], { default: '' }) }),
      errors: participantErrors,
      response: { 200: Data(Matches), 304: NotModified }
    }
  }, async ({ query: { type }, account }) => {
    await readParticipant(db, account.id)
    const [newMatches, conversations, totalMatches] = await Promise.all([
      type === 'conversations' ? [] : listNewMatches(db, account.id),
      type === 'new' ? [] : listConversations(db, account.id),
      countMatches(db, account.id)
    ])
    return data({
      newMatches: newMatches.map((match) => ({ ...match, profile: withPhotos(media, match.profile) })),
      conversations: conversations.map(({ lastMessage, ...match }) => ({
        ...match,
        profile: withPhotos(media, match.profile),
        lastMessage: { ...lastMessage, imageUrl: media.urlOf(lastMessage.imageUrl) }
      })),
      totalMatches
    })
  })
}
