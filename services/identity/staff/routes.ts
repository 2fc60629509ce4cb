import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
  languageOfRequest,
  Message,
  message,
  Nullable,
  Secret,
  Text,
  Timestamp,
  type Routes
} from '@tandem/http-kit'
import { appendAudit, forOperators, Proposed, rightsOf, staffRoles, withoutToken } from '@tandem/operator-kit'
import type { RouteDeps } from '../deps.ts'
import { listStaff } from './actions.ts'
import { changeOrPropose, type StaffChange } from './changes.ts'
import { beginEnrollment, beginUse, enroll, proveWithPasskey, signInWithPasskey } from './passkeys.ts'
import { endStaffSession, issueStaffToken, useStaffSession } from './sessions.ts'

const Session = Secret({ max: 100 })
const Invitation = Secret({ max: 100 })
/** What the browser's API takes and returns. The library checks it. */
const Browser = Type.Object({}, { additionalProperties: true })
const Response = Type.Object(
  { id: Type.String(), response: Type.Object({ clientDataJSON: Type.String() }, { additionalProperties: true }) },
  { additionalProperties: true }
)
const Role = Enum(staffRoles)
const Staff = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: Role,
  accountId: Nullable(Type.String()),
  disabledAt: Nullable(Timestamp),
  createdAt: Timestamp,
  passkeys: Type.Integer(),
  lastSeenAt: Nullable(Timestamp)
})

/** How operators sign in. Each route answers the console, which keeps the session in a cookie. */
export const staffSessionRoutes: Routes<RouteDeps> = async (app, deps) => {
  const { db } = deps
  const started = async (
    action: 'SIGN_IN' | 'NEW PASSKEY',
    { session, staffId }: { session: string, staffId: string },
    requestId: string
  ) => {
    const { role } = await useStaffSession(db, session)
    const entry = { action, subject: staffId, accountId: null, reason: null, requestId }
    await appendAudit(db, { operator: { id: staffId, role }, ...entry })
    return data({ session })
  }

  app.post('/operator/enrollment/options', {
    config: withoutToken,
    schema: { hide: true, body: Body({ token: Invitation }), response: { 200: Data(Browser) } }
  }, async ({ body }) => data({ ...await beginEnrollment(deps, body.token) }))

  app.post('/operator/enrollment', {
    config: withoutToken,
    schema: {
      hide: true,
      body: Type.Object({ token: Invitation, response: Response }),
      response: { 200: Data(Type.Object({ session: Type.String() })) }
    }
  }, async (request) => {
    const { token, response } = request.body
    const enrolled = await enroll(deps, {
      token,
      // verifyRegistrationResponse rejects every other shape.
      response: response as unknown as RegistrationResponseJSON,
      language: languageOfRequest(request)
    })
    return await started('NEW PASSKEY', enrolled, request.id)
  })

  app.post('/operator/sign-in/options', {
    config: withoutToken,
    schema: { hide: true, response: { 200: Data(Browser) } }
  }, async () => data({ ...await beginUse(deps, null) }))

  app.post('/operator/sign-in', {
    config: withoutToken,
    schema: {
      hide: true,
      body: Type.Object({ response: Response }),
      response: { 200: Data(Type.Object({ session: Type.String() })) }
    }
  }, async ({ body, id }) =>
    // verifyAuthenticationResponse rejects every other shape.
    await started('SIGN_IN', await signInWithPasskey(deps, body.response as unknown as AuthenticationResponseJSON), id))

  app.post('/operator/proof/options', {
    config: withoutToken,
    schema: { hide: true, body: Body({ session: Session }), response: { 200: Data(Browser) } }
  }, async ({ body }) => {
    const { staffId } = await useStaffSession(db, body.session)
    return data({ ...await beginUse(deps, staffId) })
  })

  app.post('/operator/proof', {
    config: withoutToken,
    schema: {
      hide: true,
      body: Type.Object({ session: Session, response: Response }),
      response: { 200: Message }
    }
  }, async ({ body }) => {
    const session = await useStaffSession(db, body.session)
    // verifyAuthenticationResponse rejects every other shape.
    await proveWithPasskey(deps, session, body.response as unknown as AuthenticationResponseJSON)
    return message('Confirmed')
  })

  app.post('/operator/tokens', {
    config: withoutToken,
    schema: {
      hide: true,
      body: Body({ session: Session }),
      response: {
        200: Data(Type.Object({
          token: Type.String(),
          staff: Type.Object({
            id: Type.String(),
            email: Type.String(),
            role: Role,
            provedAt: Timestamp,
            rights: Type.Array(Type.String())
          })
        }))
      }
    }
  }, async ({ body }) => {
    const session = await useStaffSession(db, body.session)
    const { staffId: id, email, role, provedAt } = session
    const token = await issueStaffToken(deps, session)
    return data({ token, staff: { id, email, role, provedAt, rights: rightsOf(role) } })
  })

  app.post('/operator/sign-out', {
    config: withoutToken,
    schema: { hide: true, body: Body({ session: Session }), response: { 200: Message } }
  }, async ({ body }) => {
    await endStaffSession(db, body.session)
    return message('Signed out')
  })
}

/** The operators themselves. Each change is made, or waits for another administrator. */
export const staffRoutes: Routes<RouteDeps> = async (app, deps) => {
  const { db } = deps
  const params = Type.Object({ id: Id })
  const response = { 200: Message, 202: Proposed }
  const change = async (request: FastifyRequest, requested: StaffChange) =>
    await changeOrPropose(
      deps,
      request.operator,
      { ...requested, language: languageOfRequest(request) },
      request.id
    )

  app.get('/operator/staff', {
    config: forOperators('staff.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ staff: Type.Array(Staff) })) } }
  }, async () => data({ staff: await listStaff(db) }))

  app.post('/operator/staff', {
    config: forOperators('staff.change'),
    schema: {
      hide: true,
      body: Body({ email: Text({ max: 254, format: 'email' }), role: Role, accountId: Type.Optional(Id) }),
      response
    }
  }, async (request, reply) => {
    const { email, ...more } = request.body
    const proposed = await change(request, { change: 'INVITE', email: email.toLowerCase(), ...more })
    return proposed ? reply.code(202).send(data(proposed)) : reply.code(200).send(message('The link was mailed'))
  })

  app.post('/operator/staff/:id/invitation', {
    config: forOperators('staff.change'),
    schema: { hide: true, params, response }
  }, async (request, reply) => {
    const proposed = await change(request, { change: 'INVITE_AGAIN', id: request.params.id })
    return proposed ? reply.code(202).send(data(proposed)) : reply.code(200).send(message('The link was mailed'))
  })

  app.put('/operator/staff/:id', {
    config: forOperators('staff.change'),
    schema: { hide: true, params, body: Body({ role: Role }), response }
  }, async (request, reply) => {
    const proposed = await change(request, { change: 'SET_ROLE', id: request.params.id, role: request.body.role })
    return proposed ? reply.code(202).send(data(proposed)) : reply.code(200).send(message('The role was changed'))
  })

  app.delete('/operator/staff/:id', {
    config: forOperators('staff.change'),
    schema: { hide: true, params, response }
  }, async (request, reply) => {
    const proposed = await change(request, { change: 'REMOVE', id: request.params.id })
    return proposed ? reply.code(202).send(data(proposed)) : reply.code(200).send(message('The operator was removed'))
  })
}
