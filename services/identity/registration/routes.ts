import Type from 'typebox'
import { Body, validateName, Enum, languageOfRequest, networkOf, type Routes, Text } from '@tandem/service-kit'
import { Email, SaidId } from '../accounts/schemas.ts'
import { Code } from '../codes/schemas.ts'
import type { Deps } from '../deps.ts'
import { EmailFailed } from '../errors.ts'
import { findTokenOwner } from '../keys/tokens.ts'
import { NewPassword } from '../passwords/schemas.ts'
import { device } from '../sessions/schemas.ts'
import { describeSignIn, signedIn } from '../sign-in/envelope.ts'
import { register, verifyEmail } from './actions.ts'
import { findSignInWays } from './queries.ts'

const DAY = 24 * 60 * 60
const success = true as const
const Success = Type.Literal(true)
const userId = '019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'
const verified = { success, message: 'Your email address is verified', isNewUser: true }
const mailed = { success, message: 'If this address is registered, a code is on its way to it' }
const alreadyVerified = { success, message: 'Your email address was verified before', alreadyVerified: true as const }

export const registrationRoutes: Routes<Deps> = async (app, deps) => {
  const { db, secrets, mailer, mailRequests } = deps

  app.post('/auth/check-email', {
    schema: {
      summary: 'Ask how an address signs in',
      description: '`register` for an address without an account, `credentials` for a password or a mailed code. 400 INVALID_EMAIL.',
      body: Body({ email: Email }),
      response: {
        200: Type.Object({
          success: Success,
          exists: Type.Boolean(),
          method: Enum(['register', 'credentials', 'provider_a', 'provider_b']),
          hasProviderA: Type.Boolean(),
          hasProviderB: Type.Boolean(),
          isVerified: Type.Optional(Type.Boolean({ description: 'Missing when there is no such account' })),
          userId: Type.Optional(Type.String({ description: 'Only for an address that is not verified yet' }))
        }, { examples: [{ success, exists: true, method: 'credentials', hasProviderA: false, hasProviderB: false, isVerified: false, userId }] })
      }
    },
    config: { public: true, validationCode: 'INVALID_EMAIL' }
  }, async ({ body }) => {
    const ways = await findSignInWays(db, body.email)
    if (!ways) return { success, exists: false, method: 'register' as const, hasProviderA: false, hasProviderB: false }
    const { id, method, isVerified, hasProviderA, hasProviderB } = ways
    return { success, exists: true, method, hasProviderA, hasProviderB, isVerified, ...(!isVerified && { userId: id }) }
  })

  app.post('/auth/register', {
    schema: {
      summary: 'Register by email, with or without a password',
      description: 'Tokens are good at once; a code that verifies the address is mailed, good for 24 hours. Without a name ' +
        'an account gets one that tells nothing of the person; a reserved or misleading name is refused with 400 VALIDATION_ERROR. An unknown referral code is ignored. 409 EMAIL_EXISTS.',
      body: Body({
        email: Email,
        password: Type.Optional(NewPassword),
        name: Type.Optional(Text({ min: 2, max: 100, examples: ['Ana'] })),
        referralCode: Type.Optional(Text({ min: 0, max: 50, transform: ['trim', 'toUpperCase'], examples: ['K7RMX2PA'] })),
        ...device
      }),
      response: { 201: Type.Object({ ...signedIn, requiresEmailVerification: Success }) }
    },
    config: { public: true }
  }, async (request, reply) => {
    const { email, password, name, referralCode, ...device } = request.body
    validateName('name', name)
    const registered = await register(deps, {
      email, password, name, referralCode, locale: languageOfRequest(request), client: { address: request.ip, device }
    })
    const answer = await describeSignIn(deps, { ...registered, isNewUser: true })
    return reply.code(201).send({ ...answer, requiresEmailVerification: true })
  })

  app.post('/auth/verify-email', {
    schema: {
      summary: 'Verify an address by the code that was mailed to it',
      description: 'Five wrong tries void a code, and a day has twenty. Whoever registered the address keeps its password and sessions only if this request shows ' +
        'an access token of the account (one that expired within the last 24 hours will do), or comes from the network of the registration. ' +
        '400 INVALID_CODE; 404 USER_NOT_FOUND.',
      body: Body({ userId: SaidId, code: Code }),
      response: {
        200: Type.Object({
          success: Success,
          message: Type.String(),
          isNewUser: Type.Optional(Type.Boolean()),
          alreadyVerified: Type.Optional(Success)
        }, { examples: [verified] })
      }
    },
    config: { public: true }
  }, async ({ body, ip, headers }) => {
    // As long as the code itself is good.
    const caller = await findTokenOwner(db, headers.authorization, DAY)
    return await verifyEmail(db, secrets, { ...body, network: networkOf(ip), caller }) ? verified : alreadyVerified
  })

  app.post('/auth/resend-verification', {
    schema: {
      summary: 'Mail a new verification code',
      description: 'Only the newest code counts. Answers alike whether or not the address has an account. 500 EMAIL_FAILED.',
      body: Body({ email: Email }),
      response: {
        200: Type.Object({
          success: Success,
          message: Type.String(),
          userId: Type.Optional(Type.String()),
          alreadyVerified: Type.Optional(Success)
        }, { examples: [{ ...mailed, userId }] })
      }
    },
    config: { public: true }
  }, async ({ body: { email }, ip }) => {
    // Asked for every address alike, so that a failure does not tell which are known.
    if (!await mailer.verify()) throw new EmailFailed()
    const ways = await findSignInWays(db, email)
    if (ways?.isVerified) return alreadyVerified
    await mailRequests.add({ kind: 'VERIFY', email, network: networkOf(ip) })
    // Made up for known addresses too, as even that takes time.
    const madeUp = madeUpId(email)
    return { ...mailed, userId: ways?.id ?? madeUp }
  })

  /** An id for an address nobody registered: the same at every call, and of a form like the real ones. */
  function madeUpId (email: string) {
    const digits = secrets.digest('made-up-id', email).toString('hex')
    // Ids begin with the time they were made at: these, at some time from August 2026 to October 2028.
    return `01a${digits.slice(0, 5)}-${digits.slice(5, 9)}-7${digits.slice(9, 12)}-b${digits.slice(12, 15)}-${digits.slice(15, 27)}`
  }
}
