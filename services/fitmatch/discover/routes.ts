import Type from 'typebox'
import {
  Data,
  data,
  Enum,
  Id,
  isUuid,
  Nullable,
  serializeByAccount,
  Timestamp,
  named,
  type Routes
} from '@tandem/http-kit'
import { Candidate, candidateFields, exampleCandidate } from '../candidates/candidate.ts'
import type { Deps } from '../deps.ts'
import { InsufficientPhotos, participantErrors, ProfileNotFound } from '../errors.ts'
import { readParticipant } from '../people/queries.ts'
import { withPhotos } from '../photos/describe.ts'
import { readSwipeLimits } from '../swipes/limits.ts'
import { Limits } from '../swipes/schemas.ts'
import { matchTypes, swipeTypes } from '../tables.ts'
import { discover, readProfileView } from './queries.ts'

const MAX_EXCLUDED_IDS = 500
// A client that swipes fast may request the next page early. More than this is a flood.
const MAX_WAITING_SEARCHES = 3

const ProfileView = named(
  'CandidateProfile',
  Type.Object({
    ...candidateFields,
    lastActiveAt: Nullable(Timestamp, { description: 'Null if hidden' }),
    isMatch: Type.Boolean(),
    matchId: Nullable(Type.String()),
    matchType: Nullable(Enum(matchTypes)),
    mySwipe: Nullable(Enum(swipeTypes))
  }, {
    examples: [{
      ...exampleCandidate,
      lastActiveAt: '2026-01-31T08:00:00.000Z',
      isMatch: false,
      matchId: null,
      matchType: null,
      mySwipe: null
    }]
  })
)

export const discoverRoutes: Routes<Deps> = async (app, { db, media, minAge }) => {
  // A search is the most expensive read. One account uses at most one database connection for it, and that at most a
  // quarter of the time: after a search of 10 ms, the next one waits for 30 ms.
  const serialize = serializeByAccount({ maxWaiting: MAX_WAITING_SEARCHES, maxShare: 0.25 })

  app.get('/fitmatch/discover', {
    schema: {
      operationId: 'discoverPeople',
      summary: 'Find people to train with, best matches first',
      description: '`remaining` counts the candidates after this page. My profile has to be ' +
        'ACTIVE, with at least two photos. ' +
        'Searches of one account run one at a time, and at most three wait.',
      querystring: Type.Object({
        limit: Type.Integer({ minimum: 1, maximum: 50, default: 10 }),
        excludeIds: Type.Optional(Type.String({ maxLength: 20_000, description: 'Profile ids, separated by commas' }))
      }),
      errors: [...participantErrors, InsufficientPhotos],
      response: {
        200: Data(Type.Object({ profiles: Type.Array(Candidate), remaining: Type.Integer(), limits: Limits }))
      }
    }
  }, async ({ query: { limit, excludeIds = '' }, account }) => {
    return await serialize(account.id, async () => {
      const me = await readParticipant(db, account.id)
      if (me.status !== 'ACTIVE' || me.photoCount < 2) throw new InsufficientPhotos()
      // Values that are not ids are ignored.
      const excluded = excludeIds.split(',').map((each) => each.trim()).filter(isUuid).slice(0, MAX_EXCLUDED_IDS)
      const { profiles, total } = await discover(db, me, { limit, excluded, minAge })
      const limits = await readSwipeLimits(db, me)
      return data({
        profiles: profiles.map((profile) => withPhotos(media, profile)),
        remaining: total - profiles.length,
        limits
      })
    })
  })

  app.get(
    '/fitmatch/profile/:profileId',
    {
      schema: {
        operationId: 'getCandidate',
        summary: "Get a person's profile, its compatibility score, and whether we are matched",
        description:
          'People in a block with me, in either direction, suspended people, and those who are too young to meet ' +
          'others are not found.',
        params: Type.Object({ profileId: Id }),
        errors: [...participantErrors, ProfileNotFound],
        response: { 200: Data(ProfileView) }
      }
    },
    async ({ params, account }) =>
      data(
        withPhotos(
          media,
          await readProfileView({ db, minAge }, await readParticipant(db, account.id), params.profileId)
        )
      )
  )
}
