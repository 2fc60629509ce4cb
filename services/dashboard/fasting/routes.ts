import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import { dayIn, startOfDay } from '@tandem/account-kit'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
  IdempotencyHeaders,
  Instant,
  IsoDate,
  Message,
  message,
  named,
  NextCursor,
  Nullable,
  PageQuery,
  paginate,
  readIdempotencyKey,
  Timestamp,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { AgeRestricted, FastRunning, FastOverlaps, FastNotFound, FastEnded } from '../errors.ts'
import { findTimezone } from '../people/actions.ts'
import { fastPlans } from '../tables.ts'
import { createFast, deleteFast, endFast, updateFast } from './actions.ts'
import { checkAge } from './age.ts'
import { findRunningFast, listFasts, readFastingStats } from './queries.ts'

const params = Type.Object({ id: Id })
const example = {
  id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  plan: '16:8',
  goalHours: 16,
  startedAt: '2026-11-20T12:00:00.000Z',
  goalAt: '2026-11-21T04:00:00.000Z',
  endedAt: null,
  reachedGoal: false
}

const Fast = named(
  'Fast',
  Type.Object({
    id: Type.String(),
    plan: Enum(fastPlans),
    goalHours: Type.Integer(),
    startedAt: Timestamp,
    goalAt: Timestamp,
    endedAt: Nullable(Timestamp, { description: 'Null while it runs. A fast runs until you end it' }),
    reachedGoal: Type.Boolean()
  }, { examples: [example] })
)
const FastResponse = Data(Type.Object({ fast: Fast }))

const goalHours = Type.Optional(Type.Integer({ minimum: 1, maximum: 36, description: 'Required for the plan CUSTOM' }))
const fields = { goalHours, startedAt: Type.Optional(Instant), endedAt: Type.Optional(Instant) }

const FastingStats = named(
  'FastingStats',
  Type.Object({
    count: Type.Integer(),
    reached: Type.Integer({ description: 'How many reached their goal' }),
    averageHours: Type.Number(),
    longestHours: Type.Number(),
    days: Type.Array(Type.Object({ date: Type.String(), hours: Type.Number() }), {
      description: 'Seven days of your time zone, oldest first'
    })
  }, {
    examples: [{
      count: 1,
      reached: 1,
      averageHours: 16.5,
      longestHours: 16.5,
      days: [{ date: '2026-11-20', hours: 12 }, { date: '2026-11-21', hours: 4.5 }]
    }]
  })
)

/** A response. The times of a repeated request are strings. */
const toResponse = (fast: Omit<Type.Static<typeof Fast>, 'reachedGoal'>, now: Date) => ({
  ...fast,
  reachedGoal: new Date(fast.endedAt ?? now) >= new Date(fast.goalAt)
})

export const fastingRoutes: Routes<Deps> = async (app, deps) => {
  const { db, now } = deps

  app.post('/fasting', {
    schema: {
      operationId: 'startFast',
      summary: 'Start a fast, or add a past one',
      description:
        'With `endedAt` it is a past fast. One fast runs at a time, and no two overlap. A fast has at most ' +
        '72 hours and is at most a year old. The goal of a running fast is announced once.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      body: Body({ plan: Enum(fastPlans), ...fields }, { examples: [{ plan: '16:8' }] }),
      errors: [AgeRestricted, FastRunning, FastOverlaps, IdempotencyConflict],
      response: { 201: FastResponse }
    }
  }, async (request, reply) => {
    const accountId = request.account.id
    await checkAge(deps, accountId)
    const at = now()
    const fast = await createFast(db, request.body, {
      accountId,
      now: at,
      idempotencyKey: readIdempotencyKey(request)
    })
    return reply.code(201).send(data({ fast: toResponse(fast, at) }))
  })

  app.get('/fasting/current', {
    schema: {
      operationId: 'getCurrentFast',
      summary: 'Get your running fast',
      description: 'For the timer of the app: it has the time of the goal.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ fast: Nullable(Fast, { description: 'Null if no fast is running' }) })) }
    }
  }, async ({ account }) => {
    const fast = await findRunningFast(db, account.id)
    return data({ fast: fast ? toResponse(fast, now()) : null })
  })

  app.get('/fasting', {
    schema: {
      operationId: 'listFasts',
      summary: 'List your fasts, newest first',
      description: '`from` and `to` are days of your time zone, both included, and apply to `startedAt`.',
      'x-extension': true,
      querystring: PageQuery({
        from: Type.Optional(IsoDate),
        to: Type.Optional(IsoDate),
        cursor: Type.Optional(Instant)
      }),
      response: { 200: Data(Type.Object({ fasts: Type.Array(Fast), nextCursor: NextCursor })) }
    }
  }, async ({ query: { from, to, cursor, limit }, account }) => {
    const zone = from ?? to ? await findTimezone(deps, account.id) : undefined
    const startOf = (day: string | undefined, days = 0) =>
      day === undefined || zone === undefined ? undefined : startOfDay(zone, Temporal.PlainDate.from(day).add({ days }))
    const fasts = await listFasts(db, account.id, {
      from: startOf(from),
      before: startOf(to, 1),
      cursor: cursor === undefined ? undefined : new Date(cursor),
      limit: limit + 1
    })
    const { page, nextCursor } = paginate(fasts, limit, ({ startedAt }) => startedAt.toISOString())
    const at = now()
    return data({ fasts: page.map((fast) => toResponse(fast, at)), nextCursor })
  })

  app.get('/fasting/stats', {
    schema: {
      operationId: 'getFastingStats',
      summary: 'Get figures of your last seven days of fasting',
      description: 'Counts fasts that ended in these days. The hours of a day include a running fast.',
      'x-extension': true,
      response: { 200: Data(FastingStats) }
    }
  }, async ({ account }) => {
    const at = now()
    const zone = await findTimezone(deps, account.id)
    return data(await readFastingStats(db, account.id, { today: dayIn(zone, at), zone, now: at }))
  })

  app.post('/fasting/:id/end', {
    schema: {
      operationId: 'endFast',
      summary: 'End a fast',
      description: 'Now, or at `endedAt`.',
      'x-extension': true,
      params,
      body: Body({ endedAt: Type.Optional(Instant) }, { examples: [{}] }),
      errors: [FastNotFound, FastEnded, FastOverlaps],
      response: { 200: FastResponse }
    }
  }, async ({ params, body, account }) => {
    const at = now()
    const fast = await endFast(db, params.id, body.endedAt, { accountId: account.id, now: at })
    return data({ fast: toResponse(fast, at) })
  })

  app.put('/fasting/:id', {
    schema: {
      operationId: 'updateFast',
      summary: 'Change a fast',
      description: 'Omitted fields stay unchanged. `endedAt` ends a running fast.',
      'x-extension': true,
      params,
      body: Body({ plan: Type.Optional(Enum(fastPlans)), ...fields }, { examples: [{ plan: '18:6' }] }),
      errors: [FastNotFound, FastOverlaps, FastRunning],
      response: { 200: FastResponse }
    }
  }, async ({ params, body, account }) => {
    const at = now()
    const fast = await updateFast(db, params.id, body, { accountId: account.id, now: at })
    return data({ fast: toResponse(fast, at) })
  })

  app.delete('/fasting/:id', {
    schema: {
      operationId: 'deleteFast',
      summary: 'Delete a fast',
      description: 'The figures no longer count it.',
      'x-extension': true,
      params,
      errors: [FastNotFound],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await deleteFast(db, account.id, params.id)
    return message('The fast was deleted')
  })
}
