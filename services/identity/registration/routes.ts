import Type from 'typebox'
import { validateName, networkOf } from '@tandem/account-kit'
import { Body, Enum, HookDenied, languageOfRequest, Message, message, type Routes, Text } from '@tandem/http-kit'
import { Code, CodeLinkToken } from '../codes/schemas.ts'
import type { RouteDeps } from '../deps.ts'
import { EmailFailed, EmailExists, CommonPassword, UserNotFound, InvalidCode, InvalidResetToken } from '../errors.ts'
import { findTokenOwner } from '../keys/tokens.ts'
import { NewPassword } from '../passwords/schemas.ts'
import { Email, RequiredId } from '../schemas.ts'
import { tryToDecideReferral } from '../referrals/actions.ts'
import { ReferralCode } from '../referrals/schemas.ts'
import { isEmailBanned } from '../remembered/queries.ts'
import { isAddressReserved } from '../reserved-addresses.ts'
import { device } from '../sessions/schemas.ts'
import { describeSignIn, signedIn } from '../sign-in/response.ts'
import { register, verifyEmail, verifyEmailByLink } from './actions.ts'
import { findSignInMethods } from './queries.ts'

const DAY_SECONDS = 24 * 60 * 60
const success = true as const
const Success = Type.Literal(true)
const userId = '019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'
const verified = { success, message: 'Your email address is verified', isNewUser: true }
const mailed = { success, message: 'If this address is registered, we have sent a code to it' }
const alreadyVerified = { success, message: 'Your email address is already verified', alreadyVerified: true as const }

const RegistrationHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Chosen at random by the client for this registration. If the response was lost, repeat the request ' +
      'with the same key: within ten minutes, and until the refresh token is used, the response has tokens of the ' +
      'same session',
    examples: ['7f3b5c1e-0d52-4f6a-9a57-2f6f4f0f9d11']
  }))
})

export const registrationRoutes: Routes<RouteDeps> = async (app, deps) => {
  const { db, secrets, mailer, mailRequests } = deps

  app.post('/auth/check-email', {
    schema: {
      operationId: 'checkEmail',
      summary: 'Look up the sign-in method of an email address',
      description:
        '`register` means that the address has no account, `credentials` that it signs in with a password or ' +
        'a mailed code.',
      body: Body({ email: Email }),
      response: {
        200: Type.Object({
          success: Success,
          exists: Type.Boolean(),
          method: Enum(['register', 'credentials', 'provider_a', 'provider_b']),
          hasProviderA: Type.Boolean(),
          hasProviderB: Type.Boolean(),
          isVerified: Type.Optional(Type.Boolean({ description: 'Absent if there is no such account' })),
          userId: Type.Optional(Type.String({ description: 'Present only if the address is not verified yet' }))
        }, {
          examples: [{
            success,
            exists: true,
            method: 'credentials',
            hasProviderA: false,
            hasProviderB: false,
            isVerified: false,
            userId
          }]
        })
      }
    },
    config: { public: true, validationCode: 'INVALID_EMAIL' }
  }, async ({ body }) => {
    const methods = await findSignInMethods(db, body.email)
    if (!methods && await isUnavailable(body.email)) {
      return {
        success,
        exists: true,
        method: 'credentials' as const,
        hasProviderA: false,
        hasProviderB: false,
        isVerified: true
      }
    }
    if (!methods) {
      return { success, exists: false, method: 'register' as const, hasProviderA: false, hasProviderB: false }
    }
    const { id, method, isVerified, hasProviderA, hasProviderB } = methods
    return { success, exists: true, method, hasProviderA, hasProviderB, isVerified, ...(!isVerified && { userId: id }) }
  })

  app.post('/auth/register', {
    schema: {
      operationId: 'register',
      summary: 'Register with an email address and an optional password',
      description: 'The tokens are valid immediately. A verification code is mailed to the address and expires in 24 ' +
        'hours. Without a name, ' +
        'the account gets the part of the address before the at sign, or a neutral name if that is reserved or ' +
        'misleading. A reserved or misleading name is rejected. ' +
        'A wrong referral code is ignored. ' +
        'With an Idempotency-Key a registration can be repeated.',
      headers: RegistrationHeaders,
      body: Body({
        email: Email,
        password: Type.Optional(NewPassword),
        name: Type.Optional(Text({ min: 2, max: 100, examples: ['Ana'] })),
        referralCode: Type.Optional(ReferralCode),
        ...device
      }),
      errors: [EmailExists, CommonPassword, HookDenied],
      response: { 201: Type.Object({ ...signedIn, requiresEmailVerification: Success }) }
    },
    config: { public: true }
  }, async (request, reply) => {
    const { email, password, name, referralCode, ...device } = request.body
    validateName('name', name)
    const registered = await register(deps, {
      email,
      password,
      name,
      referralCode,
      locale: languageOfRequest(request),
      client: { address: request.ip, device },
      idempotencyKey: request.headers['idempotency-key']
    })
    const response = await describeSignIn(deps, { ...registered, isNewUser: true })
    return reply.code(201).send({ ...response, requiresEmailVerification: true })
  })

  app.post('/auth/verify-email', {
    schema: {
      operationId: 'verifyEmail',
      summary: 'Verify an email address with the mailed code',
      description: 'Wrong codes count as in `POST /auth/login-code`. The password and sessions of the ' +
        'registration are kept only if this request has ' +
        'an access token of the account (it may have expired within the last 24 hours), or comes from the ' +
        'network of the registration.',
      body: Body({ userId: RequiredId, code: Code }),
      errors: [UserNotFound, InvalidCode],
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
  }, async ({ body, ip, headers, log }) => {
    // A token that expired within the lifetime of a code, a day, still identifies the caller.
    const caller = await findTokenOwner(app, headers.authorization, DAY_SECONDS)
    const isVerifiedNow = await verifyEmail(db, secrets, { ...body, network: networkOf(ip), caller })
    if (isVerifiedNow) await tryToDecideReferral(deps, log, body.userId)
    return isVerifiedNow ? verified : alreadyVerified
  })

  app.post('/auth/verify-link', {
    schema: {
      operationId: 'verifyEmailWithLink',
      summary: 'Verify an email address with the link mailed with a code',
      description: 'It works once, as long as the code, however many wrong codes were entered. The password and ' +
        'sessions of the registration are kept as in `POST /auth/verify-email`.',
      'x-extension': true,
      body: Body({ token: CodeLinkToken }),
      errors: [InvalidResetToken],
      response: { 200: Message }
    },
    config: { public: true }
  }, async ({ body: { token }, ip, headers, log }) => {
    const caller = await findTokenOwner(app, headers.authorization, DAY_SECONDS)
    const accountId = await verifyEmailByLink(db, { token, network: networkOf(ip), caller })
    await tryToDecideReferral(deps, log, accountId)
    return message('Your email address is verified')
  })

  app.post('/auth/resend-verification', {
    schema: {
      operationId: 'resendVerification',
      summary: 'Mail a new verification code',
      description: 'Only the newest code is valid. The response is the same whether or not the address has an account.',
      body: Body({ email: Email }),
      errors: [EmailFailed],
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
    // Checked for every address, so that a failure does not reveal which addresses are known.
    if (!await mailer.verify()) throw new EmailFailed()
    const methods = await findSignInMethods(db, email)
    // This and the fake id for known addresses too, so that the response time does not tell them apart.
    const wasVerified = await isUnavailable(email)
    if (methods ? methods.isVerified : wasVerified) return alreadyVerified
    await mailRequests.add({ kind: 'VERIFY', email, network: networkOf(ip) })
    const fakeId = fakeUserId(email)
    return { ...mailed, userId: methods?.id ?? fakeId }
  })

  /**
   * Whether an address without an account had one that is banned, or has changed its address. The response is the same
   * as before, so that it reveals neither.
   */
  async function isUnavailable (email: string) {
    return await isEmailBanned(db, secrets, email) || await isAddressReserved(db, email)
  }

  /** An id for an address without an account: the same in every response, and in the form of a real one. */
  function fakeUserId (email: string) {
    // A UUIDv7 starts with its time of creation: for these, between June 2024 and August 2026.
    return secrets.digest('fake-user-id', email).toString('hex')
      .replace(/^(.{5})(.{4})(.{3})(.{3})(.{12}).*$/, '019$1-$2-7$3-b$4-$5')
  }
}
