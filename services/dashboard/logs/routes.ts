import Type, { type TSchema } from 'typebox'
import { Body, paginate, Data, data, Enum, Id, readIdempotencyKey, IsoDate, Message, message, NextCursor, Nullable, PageQuery, IdempotencyHeaders, type Routes, Timestamp, ValidationError } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { zoneOf } from '../people/actions.ts'
import { logTypes, type LogType } from '../tables.ts'
import { deleteLog, writeLogs } from './actions.ts'
import { dataOf, readItem } from './items.ts'
import { listLogs, type Place } from './queries.ts'

// 200 workouts of six exercises with four sets each, and a third more.
const LONGEST_BATCH = 256 * 1024

const ofEachType = Object.entries(dataOf) as [LogType, TSchema][]

const SentItem = {
  anyOf: ofEachType.map(([type, data]) => Type.Object({
    clientId: Type.String({ minLength: 1, maxLength: 100, description: 'The phone’s own name for it: sent again, it changes what was sent before' }),
    type: Enum([type]),
    at: Type.String({ format: 'date-time', description: 'When it was, with its offset; of sleep the waking' }),
    data
  })),
  description: 'Anything else is rejected, and the others are written'
}

// Each item is judged by itself, so the route takes anything.
const Items = Type.Unsafe<unknown[]>({ type: 'array', minItems: 1, maxItems: 200, items: { documentedAs: SentItem } })

const Result = Type.Object({
  clientId: Nullable(Type.String()),
  id: Nullable(Type.String()),
  status: Enum(['created', 'updated', 'rejected']),
  error: Type.Optional(Type.String({ description: 'Why it was rejected' }))
})

const Log = Type.Object({
  id: Type.String(),
  clientId: Type.String(),
  type: Enum(logTypes),
  at: Timestamp,
  day: Type.String({ description: 'The day it counts for: the one it was in `timezone`' }),
  timezone: Type.String({ description: 'Where its owner lived when it was written' }),
  data: Type.Unsafe<object>({ type: 'object', additionalProperties: true, documentedAs: { anyOf: Object.values(dataOf), description: 'As it was sent, by its type' } })
})

const example = {
  clientId: 'a81bc81b',
  type: 'WORKOUT',
  at: '2026-11-20T16:50:00.000Z',
  data: { title: 'Legs', durationMinutes: 45, exercises: [{ name: 'Squat', sets: [{ reps: 5, weightKg: 80 }] }] }
}

export const logRoutes: Routes<Deps> = async (app, deps) => {
  const { db, cache, now } = deps

  app.post('/logs/batch', {
    schema: {
      summary: 'Write logs',
      description: 'Writes 1 to 200 logs by their clientId, so that a phone may send again what it is unsure of. Results come in the order of the items.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      body: Body({ items: Items }, { examples: [{ items: [example] }] }),
      response: {
        200: Data(Type.Object({ results: Type.Array(Result) }, {
          examples: [{ results: [{ clientId: 'a81bc81b', id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b', status: 'created' }] }]
        }))
      }
    },
    bodyLimit: LONGEST_BATCH,
    config: { validatesOwnBody: true }
  }, async (request) => {
    const accountId = request.account.id
    const read = request.body.items.map((item) => readItem(item, now()))
    const results = await writeLogs(db, { accountId, read, zone: await zoneOf(deps, accountId), spent: readIdempotencyKey(request) })
    await cache.forget(accountId)
    return data({ results })
  })

  app.get('/logs', {
    schema: {
      summary: 'List my logs, newest first',
      'x-extension': true,
      querystring: PageQuery({
        type: Type.Optional(Enum(logTypes)),
        from: Type.Optional(IsoDate),
        to: Type.Optional(IsoDate),
        cursor: Type.Optional(Type.String({ maxLength: 100, description: 'The nextCursor of the page before' }))
      }),
      response: {
        200: Data(Type.Object({ logs: Type.Array(Log), nextCursor: NextCursor }, {
          examples: [{
            logs: [{ id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b', ...example, day: '2026-11-20', timezone: 'Asia/Jakarta' }],
            nextCursor: null
          }]
        }))
      }
    }
  }, async ({ query: { cursor, ...query }, account }) => {
    const logs = await listLogs(db, account.id, { ...query, cursor: cursor === undefined ? undefined : readPlace(cursor), limit: query.limit + 1 })
    const { page, nextCursor } = paginate(logs, query.limit, writePlace)
    return data({ logs: page, nextCursor })
  })

  app.delete('/logs/:id', {
    schema: {
      summary: 'Delete a log, and take back what it brought',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await deleteLog(db, account.id, params.id)
    await cache.forget(account.id)
    return message('The log was deleted')
  })
}

const writePlace = ({ at, id }: Place) => `${at.getTime()}_${id}`

function readPlace (cursor: string): Place {
  const [, at, id] = /^(\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursor) ?? []
  if (at === undefined || id === undefined) throw new ValidationError('cursor must be the nextCursor of an earlier page')
  return { at: new Date(Number(at)), id }
}
