import Type from 'typebox'
import {
  Body,
  Data,
  data,
  Id,
  Message,
  message,
  named,
  NextCursor,
  Nullable,
  PageQuery,
  paginate,
  Text,
  Timestamp,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { PersonNotBlocked, PersonNotFound } from '../errors.ts'
import { waitUntilPersonPropagated } from '../propagation.ts'
import { formatTimeCursor, parseTimeCursor } from '../schemas.ts'
import { blockPerson, listBlockedPeople, unblockPerson } from './people-blocks.ts'

const userId = '019aa1f0-0000-7000-8000-000000000009'
const BlockedAccount = named(
  'BlockedAccount',
  Type.Object({
    userId: Type.String(),
    name: Type.String(),
    image: Nullable(Type.String()),
    blockedAt: Timestamp
  }, { examples: [{ userId, name: 'Ben', image: null, blockedAt: '2026-01-31T08:00:00.000Z' }] })
)

export const blockRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.post('/blocks', {
    schema: {
      operationId: 'blockUser',
      summary: 'Block a user',
      description: 'Neither sees the other anywhere any more, in FitMatch neither.',
      'x-extension': true,
      body: Body({ userId: Id, reason: Type.Optional(Text({ min: 0, max: 500 })) }, {
        examples: [{ userId, reason: 'Rude' }]
      }),
      errors: [PersonNotFound],
      response: { 200: Message }
    }
  }, async ({ body, account }) => {
    await blockPerson(deps, { blockerId: account.id, blockedId: body.userId, reason: body.reason || null })
    await waitUntilPersonPropagated(deps, account.id, body.userId)
    return message('User blocked')
  })

  app.get('/blocks', {
    schema: {
      operationId: 'listBlockedUsers',
      summary: 'List the users I have blocked',
      description: 'The newest first. People that I blocked in FitMatch are in `GET /fitmatch/block`.',
      'x-extension': true,
      querystring: PageQuery({ cursor: Type.Optional(Type.String()) }),
      response: { 200: Data(Type.Object({ blocks: Type.Array(BlockedAccount), nextCursor: NextCursor })) }
    }
  }, async ({ query, account }) => {
    const cursor = parseTimeCursor(query.cursor)
    const rows = await listBlockedPeople(deps, account.id, { cursor, limit: query.limit })
    const { page, nextCursor } = paginate(
      rows,
      query.limit,
      ({ blockedAt, userId }) => formatTimeCursor({ time: blockedAt, id: userId })
    )
    return data({ blocks: page, nextCursor })
  })

  app.delete('/blocks', {
    schema: {
      operationId: 'unblockUser',
      summary: 'Unblock a user',
      description: 'Follows, swipes and the match are not restored. Somebody I blocked in FitMatch too stays blocked.',
      'x-extension': true,
      querystring: Type.Object({ userId: Id }),
      errors: [PersonNotBlocked],
      response: { 200: Message }
    }
  }, async ({ query, account }) => {
    await unblockPerson(db, account.id, query.userId)
    await waitUntilPersonPropagated(deps, account.id, query.userId)
    return message('User unblocked')
  })
}
