import Type from 'typebox'
import { Body, Enum, Id, languageOf, Text, type Routes } from '@tandem/service-kit'
import { describeNewUser, User } from '../accounts/user.ts'
import type { Deps } from '../deps.ts'
import { EmailFailed } from '../errors.ts'
import { NewPassword } from '../passwords/schemas.ts'
import { networkOf } from '../sessions/addresses.ts'
import { device, tokens } from '../sessions/schemas.ts'
import { register, verifyEmail } from './actions.ts'
import { findSignInWays } from './queries.ts'
import { Email } from './schemas.ts'

const Success = Type.Literal(true)

export const registrationRoutes: Routes<Deps> = async (app, deps) => {
  const { db, secrets, mailer, mailRequests, issueToken } = deps

  app.post('/auth/check-email', {
    schema: {
      summary: 'Ask how an address signs in',
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
        })
      }
    },
    config: { public: true, validationCode: 'INVALID_EMAIL' }
  }, async ({ body }) => {
    const ways = await findSignInWays(db, body.email)
    if (!ways) return { success: true as const, exists: false, method: 'register' as const, hasProviderA: false, hasProviderB: false }
    const { id, hasPassword, isVerified, hasProviderA, hasProviderB } = ways
    return {
      success: true as const,
      exists: true,
      method: hasPassword || !isVerified ? 'credentials' as const : hasProviderA ? 'provider_a' as const : hasProviderB ? 'provider_b' as const : 'credentials' as const,
      hasProviderA,
      hasProviderB,
      isVerified,
      ...(!isVerified && { userId: id })
    }
  })

  app.post('/auth/register', {
    schema: {
      summary: 'Register by email, with or without a password',
      body: Body({
        email: Email,
        password: Type.Optional(NewPassword),
        name: Type.Optional(Text({ min: 2, max: 100 })),
        referralCode: Type.Optional(Text({ min: 0, max: 50, transform: ['trim', 'toUpperCase'] })),
        ...device
      }),
      response: {
        201: Type.Object({ success: Success, ...tokens, requiresEmailVerification: Success, user: User })
      }
    },
    config: { public: true }
  }, async (request, reply) => {
    const { email, password, name, referralCode, ...device } = request.body
    const { account, sessionId, refreshToken } = await register(deps, {
      email, password, name, referralCode, device, address: request.ip, locale: languageOf(request)
    })
    return reply.code(201).send({
      success: true,
      accessToken: await issueToken({ accountId: account.id, sessionId, role: account.role }),
      refreshToken,
      expiresIn: 900,
      requiresEmailVerification: true,
      user: describeNewUser(account)
    })
  })

  app.post('/auth/verify-email', {
    schema: {
      summary: 'Verify an address by the code that was mailed to it',
      body: Body({ userId: Id, code: Text({ min: 6, max: 6, pattern: '^[0-9]{6}$' }) }),
      response: {
        200: Type.Object({
          success: Success,
          message: Type.String(),
          isNewUser: Type.Optional(Type.Boolean()),
          alreadyVerified: Type.Optional(Success)
        })
      }
    },
    config: { public: true }
  }, async ({ body }) => await verifyEmail(db, secrets, body)
    ? { success: true as const, message: 'Your email address is verified', isNewUser: true }
    : { success: true as const, message: 'Your email address was verified before', alreadyVerified: true as const })

  app.post('/auth/resend-verification', {
    schema: {
      summary: 'Mail a new verification code',
      body: Body({ email: Email }),
      response: {
        200: Type.Object({
          success: Success,
          message: Type.String(),
          userId: Type.Optional(Type.String()),
          alreadyVerified: Type.Optional(Success)
        })
      }
    },
    config: { public: true }
  }, async (request) => {
    const { email } = request.body
    // Asked for every address alike, so that a failure does not tell which are known.
    if (!await mailer.verify()) throw new EmailFailed()
    const ways = await findSignInWays(db, email)
    if (ways?.isVerified) return { success: true as const, message: 'Your email address was verified before', alreadyVerified: true as const }
    await mailRequests.ask({ kind: 'VERIFY', email, network: networkOf(request.ip) })
    return {
      success: true as const,
      message: 'If this address is registered, a code is on its way to it',
      userId: ways?.id ?? madeUpId(email)
    }
  })

  /** An id for an address nobody registered: the same at every call, and of a form like the real ones. */
  function madeUpId (email: string) {
    const digits = secrets.digest('made-up-id', email).toString('hex')
    return `019${digits.slice(0, 5)}-${digits.slice(5, 9)}-7${digits.slice(9, 12)}-b${digits.slice(12, 15)}-${digits.slice(15, 27)}`
  }
}
