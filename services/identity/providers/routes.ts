import Type from 'typebox'
import { findNameError } from '@tandem/account-kit'
import { Body, ClientDetail, HookDenied, languageOfRequest, type Routes } from '@tandem/http-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RouteDeps } from '../deps.ts'
import {
  AccountBanned,
  AccountDeletionPending,
  InvalidProviderAToken,
  ProviderAEmailNotVerified,
  AccountNotVerified,
  InvalidProviderBToken,
  ProviderBEmailRequired
} from '../errors.ts'
import { tryToDecideReferral } from '../referrals/actions.ts'
import { ReferralCode } from '../referrals/schemas.ts'
import { logSignInFailure } from '../security-log/actions.ts'
import { device, type Device } from '../sessions/schemas.ts'
import { describeSignIn, signedIn } from '../sign-in/response.ts'
import type { Provider } from '../tables.ts'
import { providerErrors, signInByProvider } from './actions.ts'
import { ProviderToken } from './schemas.ts'

const SignedIn = Type.Object({ ...signedIn, isNewUser: Type.Boolean() })
const response = { 200: SignedIn, 201: SignedIn }

interface Attempt {
  provider: Provider
  token: string
  givenName?: string
  referralCode: string | undefined
  device: Device
}

export const providerRoutes: Routes<RouteDeps> = async (app, deps) => {
  const { db, providers } = deps

  app.post('/auth/provider-a', {
    schema: {
      operationId: 'signInWithProviderA',
      summary: 'Sign in or register with provider A',
      description:
        'Returns 201 for a new account. An existing account with the same address is linked if its address ' +
        'is verified. Without a name in the token, a new account is named after its address. A `referralCode` counts for a new account only.',
      body: Body({ idToken: ProviderToken, referralCode: Type.Optional(ReferralCode), ...device }),
      errors: [
        InvalidProviderAToken,
        ProviderAEmailNotVerified,
        AccountNotVerified,
        AccountBanned,
        AccountDeletionPending,
        HookDenied
      ],
      response
    },
    config: { public: true }
  }, async (request, reply) => {
    const { idToken, referralCode, ...device } = request.body
    return await handleSignIn(request, reply, { provider: 'PROVIDER_A', token: idToken, referralCode, device })
  })

  app.post('/auth/provider-b', {
    schema: {
      operationId: 'signInWithProviderB',
      summary: 'Sign in or register with provider B',
      description:
        'Returns 201 for a new account, which takes its name from `fullName`, else from its address. A `referralCode` counts for a new account only.',
      body: Body({
        identityToken: ProviderToken,
        fullName: Type.Optional(Body({
          givenName: Type.Optional(ClientDetail({ max: 100, examples: ['Ana'] })),
          familyName: Type.Optional(ClientDetail({ max: 100, examples: ['Putri'] }))
        })),
        email: Type.Optional(
          ClientDetail({
            max: 254,
            description: 'Ignored: only an address in the token counts',
            examples: ['ana@example.com']
          })
        ),
        referralCode: Type.Optional(ReferralCode),
        authorizationCode: Type.Optional(ClientDetail({ max: 2_048, description: 'Ignored', examples: ['c6e1…'] })),
        ...device
      }),
      errors: [
        InvalidProviderBToken,
        ProviderBEmailRequired,
        AccountNotVerified,
        AccountBanned,
        AccountDeletionPending,
        HookDenied
      ],
      response
    },
    config: { public: true }
  }, async (request, reply) => {
    const {
      identityToken,
      fullName: { givenName = '', familyName = '' } = {},
      email: _,
      authorizationCode: __,
      referralCode,
      ...device
    } = request.body
    return await handleSignIn(request, reply, {
      provider: 'PROVIDER_B',
      token: identityToken,
      givenName: `${givenName} ${familyName}`,
      referralCode,
      device
    })
  })

  async function handleSignIn (
    request: FastifyRequest,
    reply: FastifyReply,
    { provider, token, givenName, referralCode, device }: Attempt
  ) {
    const signedIn = await logSignInFailure(db, { method: provider }, verifyAndSignIn())
    const { isNewUser } = signedIn
    if (isNewUser) await tryToDecideReferral(deps, request.log, signedIn.account.id)
    return await reply.code(isNewUser ? 201 : 200).send({ ...await describeSignIn(deps, signedIn), isNewUser })

    async function verifyAndSignIn () {
      const identity = await providers[provider](token)
      if (!identity) throw new providerErrors[provider].Invalid()
      return await signInByProvider(deps, {
        provider,
        identity,
        name: usableName(identity.name) ?? usableName(givenName),
        locale: languageOfRequest(request),
        referralCode,
        client: { address: request.ip, device }
      })
    }
  }
}

/** The name from a provider, if it is allowed here. */
function usableName (name = '') {
  const trimmed = name.trim().slice(0, 100).toWellFormed()
  return trimmed.length >= 2 && findNameError(trimmed) === undefined ? trimmed : undefined
}
