import Type from 'typebox'
import { networkOf } from '@tandem/account-kit'
import { isMediaKey } from '@tandem/media-url-kit'
import { Data, data, Enum, Id, Message, message, NextCursor, PageQuery, type Routes } from '@tandem/http-kit'
import { forOperators, type Operator as ConsoleOperator } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { VerificationNotFound } from '../errors.ts'
import type { Operator } from '../operators.ts'
import { withPhotos } from '../photos/describe.ts'
import { verificationStatuses } from '../tables.ts'
import { decideVerification, readSelfie } from './actions.ts'
import { findVerificationPhoto, listVerifications } from './queries.ts'
import { Rejection } from './schemas.ts'

const Verification = Type.Object({}, { additionalProperties: true })

/** The operator as the log of security events names them. */
const actorOf = ({ operator, ip, id }: { operator: ConsoleOperator, ip: string, id: string }): Operator => ({
  accountId: operator.id,
  sessionId: operator.sessionId,
  network: networkOf(ip),
  requestId: id
})

const decider = (request: Parameters<typeof actorOf>[0]) => ({
  operator: actorOf(request),
  ownAccountId: request.operator.accountId
})

/** Verifications, for the console. */
export const verificationConsoleRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps
  const params = Type.Object({ id: Id })

  app.get('/operator/verifications', {
    config: forOperators('verifications.decide'),
    schema: {
      hide: true,
      querystring: PageQuery({ status: Enum(verificationStatuses, { default: 'PENDING' }) }),
      response: { 200: Data(Type.Object({ verifications: Type.Array(Verification), nextCursor: NextCursor })) }
    }
  }, async ({ query }) => {
    const { verifications, nextCursor } = await listVerifications(db, query)
    return data({ verifications: verifications.map((each) => ({ ...withPhotos(media, each) })), nextCursor })
  })

  app.get('/operator/verifications/:id/selfie', {
    config: forOperators('verifications.decide'),
    schema: { hide: true, params }
  }, async (request, reply) => {
    const selfie = await readSelfie(deps, actorOf(request), request.params.id)
    return reply.type('image/webp').header('cache-control', 'no-store').send(selfie)
  })

  app.get('/operator/verifications/:id/photos/:number', {
    config: forOperators('verifications.decide'),
    schema: {
      hide: true,
      params: Type.Object({
        id: Id,
        number: Type.Integer({ minimum: 1, maximum: 100, description: 'As they are listed' })
      })
    }
  }, async ({ params: { id, number } }, reply) => {
    const key = await findVerificationPhoto(db, id, number)
    const photo = isMediaKey(key ?? '') ? await media.find(key ?? '') : undefined
    if (!photo) throw new VerificationNotFound()
    return reply.type('image/webp').header('cache-control', 'no-store').send(photo)
  })

  app.post('/operator/verifications/:id/approve', {
    config: forOperators('verifications.decide'),
    schema: { hide: true, params, response: { 200: Message } }
  }, async (request) => {
    const { id: verificationId } = request.params
    await decideVerification(db, { ...decider(request), verificationId, rejection: null })
    return message('Verification approved')
  })

  app.post('/operator/verifications/:id/reject', {
    config: forOperators('verifications.decide'),
    schema: { hide: true, params, body: Rejection, response: { 200: Message } }
  }, async (request) => {
    const { params: { id: verificationId }, body: rejection } = request
    await decideVerification(db, { ...decider(request), verificationId, rejection })
    return message('Verification rejected')
  })
}
