import Type from 'typebox'
import { Body, Data, data, Enum, Id, Nullable, Timestamp, named, type Routes } from '@tandem/http-kit'
import { Candidate, exampleCandidate } from '../candidates/candidate.ts'
import type { Deps } from '../deps.ts'
import { participantErrors, ProfileNotFound, TooManySwipes, AgeRestricted } from '../errors.ts'
import { readParticipant } from '../people/queries.ts'
import { withPhotos } from '../photos/describe.ts'
import { waitUntilPropagated } from '../propagation.ts'
import { matchTypes, swipeTypes } from '../tables.ts'
import { swipe } from './actions.ts'
import { readLikes } from './queries.ts'

const Swiped = named(
  'SwipeResult',
  Type.Object({
    swipeType: Enum(swipeTypes),
    isMatch: Type.Boolean(),
    match: Type.Optional(named(
      'NewMatch',
      Type.Object({
        matchId: Type.String(),
        matchType: Enum(matchTypes),
        matchedAt: Timestamp,
        matchedProfile: Type.Object({
          id: Type.String(),
          displayName: Type.String(),
          age: Nullable(Type.Integer()),
          photo: Nullable(Type.String())
        })
      })
    )),
    remaining: Type.Integer({ description: 'Swipes left today; 999999 with an active subscription' })
  }, {
    examples: [{
      swipeType: 'LIKE',
      isMatch: true,
      remaining: 9,
      match: {
        matchId: '019aa1f0-0000-7000-8000-000000000005',
        matchType: 'LIKE',
        matchedAt: '2026-01-31T08:00:00.000Z',
        matchedProfile: {
          id: '019aa1f0-0000-7000-8000-000000000004',
          displayName: 'Ben',
          age: 31,
          photo: 'https://cdn.example/fitmatch/a/b.webp'
        }
      }
    }]
  })
)

export const swipeRoutes: Routes<Deps> = async (app, deps) => {
  app.post('/fitmatch/swipe', {
    schema: {
      operationId: 'swipe',
      summary: 'Swipe on a profile',
      description: 'At most ten a day without a subscription. Repeating a swipe is free.',
      body: Body({ targetProfileId: Id, swipeType: Enum(swipeTypes) }, {
        examples: [{ targetProfileId: '019aa1f0-0000-7000-8000-000000000004', swipeType: 'LIKE' }]
      }),
      errors: [...participantErrors, ProfileNotFound, TooManySwipes, AgeRestricted],
      response: { 200: Data(Swiped) }
    }
  }, async ({ body, account }) => {
    const { swipeType, match, remaining } = await swipe(deps, account.id, body)
    if (match) await waitUntilPropagated(deps, account.id, body.targetProfileId)
    if (!match) return data({ swipeType, isMatch: false, remaining })
    const { matchedProfile } = match
    return data({
      swipeType,
      isMatch: true,
      match: { ...match, matchedProfile: { ...matchedProfile, photo: deps.media.urlOf(matchedProfile.photo) } },
      remaining
    })
  })

  app.get('/fitmatch/likes', {
    schema: {
      'x-extension': true,
      operationId: 'listReceivedLikes',
      summary: 'List people who like me and await my swipe',
      description: 'Without a subscription, only their number.',
      errors: participantErrors,
      response: {
        200: Data(
          Type.Object({ count: Type.Integer(), profiles: Type.Array(Candidate) }, {
            examples: [{ count: 1, profiles: [exampleCandidate] }]
          })
        )
      }
    }
  }, async ({ account }) => {
    const { count, profiles } = await readLikes(deps, await readParticipant(deps.db, account.id))
    return data({ count, profiles: profiles.map((profile) => withPhotos(deps.media, profile)) })
  })
}
