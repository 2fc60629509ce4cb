import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
  IdempotencyHeaders,
  Message,
  message,
  named,
  NextCursor,
  Nullable,
  PageQuery,
  paginate,
  readIdempotencyKey,
  Text,
  Timestamp,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  adultErrors,
  AlreadyBuddies,
  BuddyNotFound,
  BuddyRequestNotFound,
  CannotRequestBuddy,
  participantErrors,
  TooManyBuddyRequests,
  PersonNotFound
} from '../errors.ts'
import { withUsers } from '../people/lookup.ts'
import { readParticipant } from '../people/queries.ts'
import { requestBuddy, respondToRequest } from './actions.ts'
import { removeBuddy, withdrawRequest } from './endings.ts'
import { listBuddies, listRequests, withPeople } from './queries.ts'

const exampleUser = { id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10', name: 'Ben', image: null }
const user = named(
  'BuddyUser',
  Type.Object({ id: Type.String(), name: Type.String(), image: Nullable(Type.String()) }, { examples: [exampleUser] })
)

const BuddyRequest = named(
  'BuddyRequest',
  Type.Object({
    id: Type.String(),
    user,
    sport: Type.String(),
    status: Enum(['PENDING', 'ACCEPTED'], { description: 'A declined request stays PENDING to its sender' }),
    createdAt: Timestamp
  }, {
    examples: [{
      id: '019aa1f0-0000-7000-8000-000000000021',
      user: exampleUser,
      sport: 'badminton',
      status: 'PENDING',
      createdAt: '2026-11-22T08:00:00.000Z'
    }]
  })
)

const Buddy = named(
  'Buddy',
  Type.Object({ user, sport: Type.String(), since: Timestamp }, {
    examples: [{ user: exampleUser, sport: 'badminton', since: '2026-11-22T08:00:00.000Z' }]
  })
)

const requestParams = Type.Object({ id: Id })

export const buddyRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.post('/buddies/requests', {
    schema: {
      operationId: 'requestBuddy',
      summary: 'Ask somebody to be my sport buddy',
      description: 'Somebody I follow, who follows me, or who has finished an activity with me. The latter are named ' +
        'by their profile too, and seen as that until they agree; they see my account. ' +
        'If they have asked me, this accepts it. A repeat returns the open request. At most 20 a day.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      body: Body({ userId: Id, sport: Text({ max: 100, description: 'The id of an onboarding option' }) }, {
        examples: [{ userId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10', sport: 'badminton' }]
      }),
      errors: [
        ...adultErrors,
        PersonNotFound,
        CannotRequestBuddy,
        AlreadyBuddies,
        TooManyBuddyRequests,
        IdempotencyConflict
      ],
      response: { 201: Data(Type.Object({ request: BuddyRequest })) }
    }
  }, async (request, reply) => {
    const { body, account } = request
    const row = await requestBuddy(deps, account.id, { ...body, idempotencyKey: readIdempotencyKey(request) })
    const [created] = await withPeople(deps, [row])
    return reply.code(201).send(data({ request: created! }))
  })

  app.get('/buddies/requests', {
    schema: {
      operationId: 'listBuddyRequests',
      summary: 'List open sport buddy requests, newest first',
      description: 'A request is open for 90 days. Accepted ones are in the list of buddies.',
      'x-extension': true,
      querystring: PageQuery({ box: Enum(['in', 'out'], { default: 'in', description: 'To me, or sent by me' }) }),
      errors: participantErrors,
      response: { 200: Data(Type.Object({ requests: Type.Array(BuddyRequest), nextCursor: NextCursor })) }
    }
  }, async ({ query: { box, cursor, limit }, account }) => {
    await readParticipant(db, account.id)
    const rows = await listRequests(db, account.id, box, { cursor, limit: limit + 1 })
    const { page, nextCursor } = paginate(rows, limit, ({ id }) => id)
    return data({ requests: await withPeople(deps, page), nextCursor })
  })

  app.post('/buddies/requests/:id/respond', {
    schema: {
      operationId: 'respondToBuddyRequest',
      summary: 'Accept or decline a sport buddy request',
      description: 'The sender is not told of a refusal, and cannot ask again for 90 days.',
      'x-extension': true,
      params: requestParams,
      body: Body({ accept: Type.Boolean() }, { examples: [{ accept: true }] }),
      errors: [...adultErrors, BuddyRequestNotFound],
      response: {
        200: Data(Type.Object({ request: Nullable(BuddyRequest, { description: 'Null after declining' }) }))
      }
    }
  }, async ({ params, body, account }) => {
    const row = await respondToRequest(deps, account.id, params.id, body.accept)
    const [accepted] = await withPeople(deps, row ? [row] : [])
    return data({ request: accepted ?? null })
  })

  app.delete('/buddies/requests/:id', {
    schema: {
      operationId: 'withdrawBuddyRequest',
      summary: 'Withdraw my sport buddy request',
      description: 'Its notification is removed too.',
      'x-extension': true,
      params: requestParams,
      errors: [BuddyRequestNotFound],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await withdrawRequest(db, account.id, params.id)
    return message('Request withdrawn')
  })

  app.get('/buddies', {
    schema: {
      operationId: 'listBuddies',
      summary: 'List my sport buddies, newest first',
      description: 'People who are suspended, blocked or hidden are not listed.',
      'x-extension': true,
      querystring: PageQuery(),
      errors: participantErrors,
      response: { 200: Data(Type.Object({ buddies: Type.Array(Buddy), nextCursor: NextCursor })) }
    }
  }, async ({ query: { cursor, limit }, account }) => {
    await readParticipant(db, account.id)
    const { page, nextCursor } = paginate(
      await listBuddies(db, account.id, { cursor, limit: limit + 1 }),
      limit,
      ({ id }) => id
    )
    return data({ buddies: await withUsers(deps, page), nextCursor })
  })

  app.delete('/buddies/:userId', {
    schema: {
      operationId: 'removeBuddy',
      summary: 'Stop being sport buddies',
      description: 'The other person is not notified. Open invitations between us are withdrawn, places stay.',
      'x-extension': true,
      params: Type.Object({ userId: Id }),
      errors: [BuddyNotFound],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await removeBuddy(deps, account.id, params.userId)
    return message('You are no longer sport buddies')
  })
}
