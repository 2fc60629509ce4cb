import Type from 'typebox'
import { Body, Data, data, Id, Message, message, Nullable, Text, Timestamp, type Routes } from '@tandem/http-kit'
import { listMailsOf } from '@tandem/mail-kit'
import { countPerson, forOperators } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { listSessions } from '../sessions/queries.ts'
import { ProviderName } from '../schemas.ts'
import { endAllSessionsOf, removeProviderOf } from './actions.ts'
import { listIssues } from './queries.ts'
import { findPerson, readContact, readModeration, readPerson } from './people.ts'

const Reason = Text({ min: 3, max: 500, description: 'The case, or why' })
const Moderation = Type.Object({
  cases: Type.Integer(),
  openCases: Type.Integer(),
  reportsMade: Type.Integer(),
  reportsUpheld: Type.Integer()
}, { description: 'Null while the service is unavailable' })
const Person = Type.Object({
  accountId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  emailVerified: Type.Boolean(),
  memberSince: Timestamp,
  isDeletionPending: Type.Boolean(),
  status: Type.String(),
  restrictions: Type.Array(Type.Object({ scope: Type.String(), until: Nullable(Timestamp) })),
  strikes: Type.Integer(),
  sessions: Type.Integer(),
  providers: Type.Array(Type.Object({ provider: ProviderName, linkedAt: Timestamp })),
  moderation: Type.Object({ social: Nullable(Moderation), fitmatch: Nullable(Moderation) })
})
const Session = Type.Object({
  id: Type.String(),
  deviceName: Nullable(Type.String()),
  platform: Nullable(Type.String()),
  appVersion: Nullable(Type.String()),
  ipAddress: Nullable(Type.String({ description: 'Masked' })),
  lastUsedAt: Timestamp,
  createdAt: Timestamp
})
const Mail = Type.Object({
  id: Type.String(),
  kind: Type.String({ description: 'What it is about, such as `decision`' }),
  status: Type.String(),
  attempts: Type.Integer(),
  createdAt: Timestamp,
  sentAt: Nullable(Timestamp)
})
const AnyRow = Type.Object({}, { additionalProperties: true })

/** What operators see of people. Each route that names a person needs a reason, which the audit keeps. */
export const peopleOperatorRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps
  const params = Type.Object({ id: Id })

  // A body, because addresses in URLs end up in logs.
  app.post('/operator/people/search', {
    config: forOperators('people.read'),
    schema: {
      hide: true,
      body: Body({ q: Text({ max: 254, description: 'The exact address, username or id' }), reason: Reason }),
      response: { 200: Data(Type.Object({ accountId: Type.String() })) }
    }
  }, async ({ body, operator }) => {
    const accountId = await findPerson(deps, body.q)
    await countPerson(db, operator.id, accountId)
    return data({ accountId })
  })

  app.get('/operator/people/:id', {
    config: forOperators('people.read', { person: 'id' }),
    schema: {
      hide: true,
      params,
      querystring: Type.Object({ reason: Reason }),
      response: { 200: Data(Type.Object({ person: Person })) }
    }
  }, async ({ params: { id } }) => {
    const person = await readPerson(db, id)
    return data({ person: { ...person, moderation: await readModeration(deps, id) } })
  })

  app.get('/operator/people/:id/contact', {
    config: forOperators('people.contact', { person: 'id' }),
    schema: {
      hide: true,
      params,
      querystring: Type.Object({ reason: Reason }),
      response: { 200: Data(Type.Object({ email: Type.String(), locale: Type.String() })) }
    }
  }, async ({ params: { id } }) => data(await readContact(db, id)))

  app.get('/operator/people/:id/sessions', {
    config: forOperators('people.read', { person: 'id' }),
    schema: {
      hide: true,
      params,
      querystring: Type.Object({ reason: Reason }),
      response: { 200: Data(Type.Object({ sessions: Type.Array(Session) })) }
    }
  }, async ({ params: { id } }) => data({ sessions: await listSessions(db, id) }))

  app.post('/operator/people/:id/sessions/end', {
    config: forOperators('sessions.end', { person: 'id' }),
    schema: {
      hide: true,
      params,
      body: Body({ reason: Reason }),
      response: { 200: Data(Type.Object({ ended: Type.Integer() })) }
    }
  }, async ({ params: { id } }) => data({ ended: await endAllSessionsOf(db, { id }) }))

  app.post('/operator/people/:id/providers/remove', {
    config: forOperators('providers.remove', { person: 'id' }),
    schema: { hide: true, params, body: Body({ provider: ProviderName, reason: Reason }), response: { 200: Message } }
  }, async ({ params: { id }, body: { provider } }) => {
    await removeProviderOf(db, id, provider)
    return message('The provider was removed, and all devices were signed out')
  })

  app.get('/operator/mails', {
    config: forOperators('mails.read', { person: 'accountId' }),
    schema: {
      hide: true,
      querystring: Type.Object({ accountId: Id, reason: Reason }),
      response: { 200: Data(Type.Object({ mails: Type.Array(Mail) })) }
    }
  }, async ({ query: { accountId } }) => data({ mails: await listMailsOf(db, accountId) }))

  app.get('/operator/issues', {
    config: forOperators('issues.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ issues: Type.Array(AnyRow) })) } }
  }, async () => data({ issues: await listIssues(db) }))
}
