import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  Body,
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
  PageQuery,
  IdempotencyHeaders,
  ValidationError,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { LogNotFound, ProgramDayNotFound, TooManyLogs } from '../errors.ts'
import { findTimezone } from '../people/actions.ts'
import { logTypes } from '../tables.ts'
import { deleteLog, logPlannedWorkout, splitLog, writeLogs } from './actions.ts'
import { isDeleted, isRejected, parseItem } from './items.ts'
import { planWorkout } from './planned-workout.ts'
import { findLog, findLogById, listLogs, readChanges } from './queries.ts'
import { Changes, ChangesQuery, example, exampleChange, exampleId, exampleLog, Items, Log, Result } from './schemas.ts'

const MAX_BATCH_BYTES = 1024 * 1024
const MAX_BATCH_VALUES = 100_000

export const logRoutes: Routes<Deps> = async (app, deps) => {
  const { db, now } = deps

  app.post('/logs/batch', {
    schema: {
      operationId: 'saveLogs',
      summary: 'Create or update logs',
      description: 'Upserts 1 to 1,000 logs by their id in their source, else by their clientId, so a client can ' +
        'safely repeat a request, in any order. Results are in the order of the items. A body has at most 1 MiB and ' +
        '100,000 values, a day 100 MB. What was deleted here stays deleted. The same workout or sleep of several ' +
        'sources is one session, and of steps, distance and energy each minute counts once, from the best source.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      body: Body({ items: Items }, { examples: [{ items: [example] }] }),
      errors: [IdempotencyConflict, TooManyLogs],
      response: {
        200: Data(Type.Object({ results: Type.Array(Result) }, {
          examples: [{
            results: [{
              clientId: 'a81bc81b',
              id: exampleId,
              status: 'created',
              xp: 120,
              level: 2,
              records: [{ exercise: 'Squat', weightKg: 80, reps: 5 }]
            }]
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
      errors: [ProgramDayNotFound, TooManyLogs],
      response: { 201: Data(Type.Object({ log: Log }, { examples: [{ log: exampleLog }] })) }
    }
  }, async (request, reply) => {
    const { account, body } = request
    const zone = await findTimezone(deps, account.id)
    const language = languageOfRequest(request)
    const at = body.at ?? now().toISOString()
    const workout = await planWorkout(db, account.id, {
      programDayId: body.programDayId,
      durationMinutes: body.durationMinutes,
      language
    })
    const item = parseItem({ clientId: 'program', type: 'WORKOUT', at, data: workout }, now(), language)
    if (isRejected(item)) throw new ValidationError('itemRejected', item.fields, { reason: item.error })
    if (isDeleted(item)) throw new Error('a planned workout is not deleted')
    const { programDayId } = body
    const clientId = await logPlannedWorkout(db, { accountId: account.id, zone, programDayId, item })
    const log = await findLog(db, account.id, clientId)
    if (!log) throw new LogNotFound()
    return reply.code(201).send(data({ log }))
  })

  app.get('/logs', {
    schema: {
      operationId: 'listLogs',
      summary: 'List your logs, newest first',
      description: 'What counts: a session of several sources is one log, with its `parts`. Filter by type and by ' +
        'calendar day; `from` and `to` are included.',
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
  }, async ({ query, account }) => data(await listLogs(db, account.id, query)))

  app.get('/logs/sync', {
    schema: {
      operationId: 'syncLogs',
      summary: 'List what changed in your logs',
      description:
        'For another device: every log as its source sent it, and tombstones of deleted ones. Start without ' +
        'a cursor, and go on with the one of the last response until there are no more changes. A log that changes ' +
        'meanwhile can come twice.',
      'x-extension': true,
      querystring: ChangesQuery,
      response: {
        200: Data(Type.Object({
          changes: Changes,
          cursor: Type.String()
        }, {
          examples: [{
            changes: [exampleChange],
            cursor: `12_${exampleId}`
          }]
        }))
      }
    }
  }, async ({ query: { cursor, limit }, account }) => data(await readChanges(db, account.id, { cursor, limit })))

  app.post('/logs/:id/split', {
    schema: {
      operationId: 'splitLog',
      summary: 'Take a workout out of its session',
      description: 'It counts on its own from then on, also if its source sends it again. Any part of a session can ' +
        'be taken out. Repeating it changes nothing.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [LogNotFound, TooManyLogs],
      response: { 200: Data(Type.Object({ log: Log }, { examples: [{ log: { ...exampleLog, isSplit: true } }] })) }
    }
  }, async ({ params, account }) => {
    await splitLog(db, account.id, params.id)
    const log = await findLogById(db, account.id, params.id)
    if (!log) throw new LogNotFound()
    return data({ log })
  })

  app.delete('/logs/:id', {
    schema: {
      operationId: 'deleteLog',
      summary: 'Delete a log and everything it counted for',
      description: 'XP, streaks, records and scores are recalculated. Of a session only this part is deleted.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [LogNotFound, TooManyLogs],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await deleteLog(db, account.id, params.id)
    return message('The log was deleted')
  })
}
