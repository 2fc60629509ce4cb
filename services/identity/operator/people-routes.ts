import Type from 'typebox'
import { Data, data, Id, Message, message, Body, Nullable, Text, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { holdErasure, listErasures, releaseErasure } from './erasures.ts'
import { listIssues } from './queries.ts'
import { countPerson, findPerson, readContact, readPerson } from './people.ts'

const Reason = Text({ min: 3, max: 500, description: 'The case, or why' })
const Person = Type.Object({
  accountId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  emailVerified: Type.Boolean(),
  memberSince: Timestamp,
  isLeaving: Type.Boolean(),
  status: Type.String(),
  restrictions: Type.Array(Type.Object({ scope: Type.String(), until: Nullable(Timestamp) })),
  strikes: Type.Integer(),
  sessions: Type.Integer()
})
const AnyRow = Type.Object({}, { additionalProperties: true })

/** What operators see of people. Each route that names a person needs a reason, which the audit keeps. */
export const peopleOperatorRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps
  const params = Type.Object({ id: Id })

  app.get('/operator/people', {
    config: forOperators('people.read'),
    schema: {
      hide: true,
      querystring: Type.Object({
        q: Text({ max: 254, description: 'The exact address, username or id' }),
        reason: Reason
      }),
      response: { 200: Data(Type.Object({ person: Person })) }
    }
  }, async ({ query, operator }) => {
    const accountId = await findPerson(deps, query.q)
    await countPerson(db, operator.id, accountId)
    return data({ person: await readPerson(db, accountId) })
  })

  app.get('/operator/people/:id/contact', {
    config: forOperators('people.contact'),
    schema: {
      hide: true,
      params,
      querystring: Type.Object({ reason: Reason }),
      response: { 200: Data(Type.Object({ email: Type.String(), locale: Type.String() })) }
    }
  }, async ({ params: { id }, operator }) => {
    await countPerson(db, operator.id, id)
    return data(await readContact(db, id))
  })

  app.get('/operator/mails', {
    config: forOperators('mails.read'),
    schema: {
      hide: true,
      querystring: Type.Object({ accountId: Id, reason: Reason }),
      response: { 200: Data(Type.Object({ mails: Type.Array(AnyRow) })) }
    }
  }, async ({ query: { accountId }, operator }) => {
    await countPerson(db, operator.id, accountId)
    const mails = await db.selectFrom('mails').where('account_id', '=', accountId)
      .select(['id', 'status', 'attempts', 'created_at as createdAt']).orderBy('id', 'desc').limit(50).execute()
    return data({ mails })
  })

  app.get('/operator/issues', {
    config: forOperators('issues.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ issues: Type.Array(AnyRow) })) } }
  }, async () => data({ issues: await listIssues(db) }))

  app.get('/operator/erasures', {
    config: forOperators('erasures.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ erasures: Type.Array(AnyRow) })) } }
  }, async () => data({ erasures: await listErasures(db) }))

  app.post('/operator/erasures/:id/hold', {
    config: forOperators('holds.change'),
    schema: {
      hide: true,
      params,
      body: Body({ days: Type.Integer({ minimum: 1, maximum: 365 }), reason: Reason }),
      response: { 200: Message }
    }
  }, async ({ params: { id }, body }) => {
    await holdErasure(db, id, body)
    return message('The deletion is held')
  })

  app.post('/operator/erasures/:id/release', {
    config: forOperators('holds.change'),
    schema: { hide: true, params, response: { 200: Message } }
  }, async ({ params: { id } }) => {
    await releaseErasure(db, id)
    return message('The deletion goes on')
  })
}
