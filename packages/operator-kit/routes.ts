import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import Type from 'typebox'
import { deleteDeadLetter, listDeadLetters, requestReplay, type FailedMessageTables } from '@tandem/bus-kit'
import { Data, data, Message, message, Nullable, PageQuery, paginate, Timestamp, type Routes } from '@tandem/http-kit'
import { listAudit } from './audit.ts'
import { forOperators } from './authentication.ts'
import { listCallers, listCalls } from './calls.ts'
import { DeadLetterNotFound } from './errors.ts'
import type { OperatorTables } from './tables.ts'

/** The database of a service, with the tables of the kits. */
export type OperatorDb = Kysely<OperatorTables> & Kysely<FailedMessageTables>

// After an incident there can be hundreds of thousands; those are replayed by the command line.
const MAX_DEAD_LETTERS = 500

const Key = Type.Object({ key: Type.String({ maxLength: 200 }) })
const Health = Type.Object({
  status: Type.String(),
  degraded: Type.Boolean(),
  down: Type.Array(Type.String()),
  failedMessages: Type.Integer(),
  deadLetters: Type.Integer()
})
const DeadLetter = Type.Object({
  key: Type.String(),
  type: Type.String(),
  attempts: Type.Integer(),
  error: Type.String(),
  firstFailedAt: Timestamp,
  deadSince: Nullable(Timestamp)
})
const Entry = Type.Object({
  number: Type.Integer(),
  staffId: Type.String(),
  role: Type.String(),
  action: Type.String(),
  subject: Nullable(Type.String()),
  accountId: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  requestId: Type.String(),
  createdAt: Timestamp
})

const calls = { calls: Type.Integer(), errors: Type.Integer(), lastDay: Type.String() }
const CalledOperation = Type.Object({
  operation: Type.String(),
  ...calls,
  versions: Type.Integer(),
  sunset: Nullable(Type.String({ description: 'Until when it is served, if it is deprecated' }))
})
const CallingVersion = Type.Object({ platform: Type.String(), appVersion: Type.String(), ...calls })

/** What every service serves to operators. */
export const sharedRoutes: Routes<{ db: OperatorDb, sunsets: Map<string, string> }> = async (app, { db, sunsets }) => {
  app.get('/operator/health', {
    config: forOperators('health.read'),
    schema: { hide: true, response: { 200: Data(Health) } }
  }, async () => data({ ...await readHealth(app), ...await countFailed(db) }))

  app.get('/operator/dead-letters', {
    config: forOperators('dead-letters.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ deadLetters: Type.Array(DeadLetter) })) } }
  }, async () => data({ deadLetters: await listDeadLetters(db, { limit: MAX_DEAD_LETTERS }) }))

  app.post('/operator/dead-letters/:key/replay', {
    config: forOperators('dead-letters.change'),
    schema: { hide: true, params: Key, response: { 200: Message } }
  }, async ({ params }) => {
    if (await requestReplay(db, [params.key]) === 0) throw new DeadLetterNotFound()
    return message('The service handles the message again')
  })

  app.delete('/operator/dead-letters/:key', {
    config: forOperators('dead-letters.change'),
    schema: { hide: true, params: Key, response: { 200: Message } }
  }, async ({ params }) => {
    if (!await deleteDeadLetter(db, params.key)) throw new DeadLetterNotFound()
    return message('The message was deleted')
  })

  app.get('/operator/calls', {
    config: forOperators('health.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ operations: Type.Array(CalledOperation) })) } }
  }, async () => {
    const operations = await listCalls(db)
    return data({ operations: operations.map((each) => ({ ...each, sunset: sunsets.get(each.operation) ?? null })) })
  })

  app.get('/operator/calls/:operation', {
    config: forOperators('health.read'),
    schema: {
      hide: true,
      params: Type.Object({ operation: Type.String({ maxLength: 100 }) }),
      response: { 200: Data(Type.Object({ versions: Type.Array(CallingVersion) })) }
    }
  }, async ({ params }) => data({ versions: await listCallers(db, params.operation) }))

  app.get('/operator/audit', {
    config: forOperators('audit.read'),
    schema: {
      hide: true,
      querystring: Type.Object({
        limit: PageQuery().properties.limit,
        before: Type.Optional(Type.Integer({ minimum: 1, description: 'Entries before this number' }))
      }),
      response: { 200: Data(Type.Object({ entries: Type.Array(Entry), nextCursor: Nullable(Type.String()) })) }
    }
  }, async ({ query: { limit, before } }) => {
    const rows = await listAudit(db, { limit, ...(before !== undefined && { before }) })
    const { page, nextCursor } = paginate(rows, limit, ({ number }) => String(number))
    return data({ entries: page, nextCursor })
  })
}

/** The readiness of this process, as Kubernetes sees it. */
async function readHealth (app: Pick<FastifyInstance, 'inject'>) {
  const response = await app.inject('/health/ready')
  const { status, degraded, down = [] } = response.json<{ status: string, degraded: boolean, down?: string[] }>()
  return { status, degraded, down }
}

async function countFailed (db: OperatorDb) {
  const { failedMessages, deadLetters } = await db.selectFrom('failed_messages')
    .select(({ fn }) => [
      fn.countAll<number>().as('failedMessages'),
      fn.count<number>('parked_at').as('deadLetters')
    ])
    .executeTakeFirstOrThrow()
  return { failedMessages, deadLetters }
}
