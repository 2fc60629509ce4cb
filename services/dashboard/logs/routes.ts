import Type, { type TSchema } from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  createInvalidCursor,
  Body,
  paginate,
  Data,
  data,
  Enum,
  Id,
  readIdempotencyKey,
  IsoDate,
  languageOfRequest,
  Message,
  message,
  NextCursor,
  Nullable,
  PageQuery,
  IdempotencyHeaders,
  Timestamp,
  ValidationError,
  named,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { LogNotFound, ProgramDayNotFound } from '../errors.ts'
import { findTimezone } from '../people/actions.ts'
import { logTypes, type LogType } from '../tables.ts'
import { dayAndZoneOf, deleteLog, writeLogs } from './actions.ts'
import { dataSchemas, parseItem } from './items.ts'
import { planWorkout } from './planned-workout.ts'
import { findLog, listLogs, type LogPosition } from './queries.ts'

// 200 workouts of eight exercises with five sets each, three times.
const MAX_BATCH_BYTES = 1024 * 1024
const MAX_BATCH_VALUES = 100_000

const ofEachType = Object.entries(dataSchemas) as [LogType, TSchema][]

const titleOf = (type: LogType) => `${type.slice(0, 1)}${type.slice(1).toLowerCase()}`

const NewLog = named(
  'NewLog',
  Type.Union(
    ofEachType.map(([type, data]) =>
      named(
        `New${titleOf(type)}Log`,
        Type.Object({
          clientId: Type.String({
            minLength: 1,
            maxLength: 100,
            description: 'An id chosen by the client. Sending the same id again updates the log.'
          }),
          type: Enum([type]),
          at: Type.String({
            format: 'date-time',
            description:
              'The time of the log with its UTC offset, which decides its day; for SLEEP, the time of waking up'
          }),
          timezone: Type.Optional(Type.String({
            description: 'Where the log was written, as an IANA name. By default a new log takes the offset of `at`, ' +
              'or for UTC your current time zone, and an edited one keeps its own'
          })),
          modifiedAt: Type.Optional(Type.String({
            format: 'date-time',
            description: 'When this version was written. An older version than the stored one changes nothing'
          })),
          data
        })
      )
    ),
    { description: 'Invalid items are rejected one by one; the others are written' }
  )
)

// Each item is validated separately, so the route accepts any value.
const Items = Type.Unsafe<unknown[]>({ type: 'array', minItems: 1, maxItems: 200, items: { documentedAs: NewLog } })

const Result = named(
  'LogResult',
  Type.Object({
    clientId: Nullable(Type.String()),
    id: Nullable(Type.String()),
    status: Enum(['created', 'updated', 'unchanged', 'rejected'], {
      description: 'unchanged: you deleted this log in the last 90 days, so `id` is null, or the item is older than ' +
        'the stored version'
    }),
    error: Type.Optional(Type.String({ description: 'Why it was rejected, in the language of Accept-Language' }))
  })
)

const logFields = {
  id: Type.String(),
  clientId: Type.String(),
  at: Timestamp,
  day: Type.String({ description: 'The calendar day of `at` in `timezone`, which the log counts for' }),
  timezone: Type.String({ description: 'Where the log was written: a time zone, or an offset such as +09:00' }),
  modifiedAt: Nullable(Timestamp, { description: 'As it was sent; null if it was not' }),
  counts: Type.Boolean({
    description: 'False if a longer log is of the same workout or sleep: then only that one gives XP and records'
  })
}

// The data of a log is returned as it was sent, so responses need not find out its type.
const Log = Type.Object({
  ...logFields,
  type: Enum(logTypes),
  data: Type.Unsafe<object>({ type: 'object', additionalProperties: true })
}, {
  documentedAs: named(
    'Log',
    Type.Union(
      ofEachType.map(([type, data]) =>
        named(`${titleOf(type)}Log`, Type.Object({ ...logFields, type: Enum([type]), data }))
      )
    )
  )
})

const example = {
  clientId: 'a81bc81b',
  type: 'WORKOUT',
  at: '2026-11-20T16:50:00.000Z',
  data: { title: 'Legs', durationMinutes: 45, exercises: [{ name: 'Squat', sets: [{ reps: 5, weightKg: 80 }] }] }
}

const exampleLog = {
  id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  ...example,
  day: '2026-11-20',
  timezone: 'Asia/Jakarta',
  modifiedAt: null,
  counts: true
}

export const logRoutes: Routes<Deps> = async (app, deps) => {
  const { db, now } = deps

  app.post('/logs/batch', {
    schema: {
      operationId: 'saveLogs',
      summary: 'Create or update logs',
      description: 'Upserts 1 to 200 logs by their clientId, so a client can safely repeat a request. ' +
        'Results are in the order of the items. A body has at most 1 MiB and 100,000 values. The id of a deleted log ' +
        'creates no other for 90 days.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      body: Body({ items: Items }, { examples: [{ items: [example] }] }),
      errors: [IdempotencyConflict],
      response: {
        200: Data(Type.Object({ results: Type.Array(Result) }, {
          examples: [{
            results: [{ clientId: 'a81bc81b', id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b', status: 'created' }]
          }]
        }))
      }
    },
    bodyLimit: MAX_BATCH_BYTES,
    config: { validatesOwnBody: true, maxBodyValues: MAX_BATCH_VALUES }
  }, async (request) => {
    const accountId = request.account.id
    const parsedItems = request.body.items.map((item) => parseItem(item, now(), languageOfRequest(request)))
    const results = await writeLogs(db, {
      accountId,
      parsedItems,
      zone: await findTimezone(deps, accountId),
      idempotencyKey: readIdempotencyKey(request)
    })
    return data({ results })
  })

  app.post('/logs/workouts', {
    schema: {
      operationId: 'logPlannedWorkout',
      summary: 'Log the workout of a day of a training program',
      description:
        'With the planned sets and repetitions, and for each exercise the weight of your newest lift. Edit ' +
        'what was different with `POST /logs/batch` and the `clientId` of the response. A repeat on the same day ' +
        'returns the log as it is.',
      'x-extension': true,
      body: Body({
        programDayId: Id,
        at: Type.Optional(Type.String({
          format: 'date-time',
          description: 'The start with its UTC offset, which decides its day; default now'
        })),
        durationMinutes: Type.Optional(Type.Number({
          minimum: 1,
          maximum: 1440,
          description: 'Default three minutes for each set'
        }))
      }, { examples: [{ programDayId: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1c', at: '2026-11-20T16:50:00.000Z' }] }),
      errors: [ProgramDayNotFound],
      response: { 201: Data(Type.Object({ log: Log }, { examples: [{ log: exampleLog }] })) }
    }
  }, async (request, reply) => {
    const { account, body } = request
    const zone = await findTimezone(deps, account.id)
    const at = body.at ?? now().toISOString()
    const workout = await planWorkout(db, account.id, {
      programDayId: body.programDayId,
      durationMinutes: body.durationMinutes
    })
    const item = parseItem(
      { clientId: 'program', type: 'WORKOUT', at, data: workout },
      now(),
      languageOfRequest(request)
    )
    if ('error' in item) throw new ValidationError('itemRejected', item.fields, { reason: item.error })
    const { day } = dayAndZoneOf({ ...item, existing: undefined }, zone)
    const clientId = `program:${body.programDayId}:${day}`
    const existing = await findLog(db, account.id, clientId)
    if (existing) return reply.code(201).send(data({ log: existing }))

    const parsedItems = [{ ...item, clientId }]
    await writeLogs(db, { accountId: account.id, parsedItems, zone, idempotencyKey: undefined })
    const log = await findLog(db, account.id, clientId)
    if (!log) throw new LogNotFound()
    return reply.code(201).send(data({ log }))
  })

  app.get('/logs', {
    schema: {
      operationId: 'listLogs',
      summary: 'List your logs, newest first',
      description: 'Filter by type and by calendar day; `from` and `to` are included.',
      'x-extension': true,
      querystring: PageQuery({
        type: Type.Optional(Enum(logTypes)),
        from: Type.Optional(IsoDate),
        to: Type.Optional(IsoDate),
        cursor: Type.Optional(Type.String({ maxLength: 100, description: 'The nextCursor of the previous page' }))
      }),
      response: {
        200: Data(Type.Object({ logs: Type.Array(Log), nextCursor: NextCursor }, {
          examples: [{
            logs: [exampleLog],
            nextCursor: null
          }]
        }))
      }
    }
  }, async ({ query: { cursor, ...query }, account }) => {
    const logs = await listLogs(db, account.id, {
      ...query,
      cursor: cursor === undefined ? undefined : parseCursor(cursor),
      limit: query.limit + 1
    })
    const { page, nextCursor } = paginate(logs, query.limit, formatCursor)
    return data({ logs: page, nextCursor })
  })

  app.delete('/logs/:id', {
    schema: {
      operationId: 'deleteLog',
      summary: 'Delete a log and everything it counted for',
      description: 'XP, streaks, records and scores are recalculated.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [LogNotFound],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await deleteLog(db, account.id, params.id)
    return message('The log was deleted')
  })
}

const formatCursor = ({ at, id }: LogPosition) => `${at.getTime()}_${id}`

function parseCursor (cursor: string): LogPosition {
  const [, at, id] = /^(\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursor) ?? []
  if (at === undefined || id === undefined) throw createInvalidCursor()
  return { at: new Date(Number(at)), id }
}
