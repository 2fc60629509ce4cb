import Type from 'typebox'
import { Body, languageOf, Secret, Text, type Routes } from '@tandem/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { describeNewUser, describeUser, User } from '../accounts/user.ts'
import type { Deps } from '../deps.ts'
import { InvalidProviderAToken, InvalidProviderBToken, ProviderAEmailNotVerified, ProviderBEmailRequired } from '../errors.ts'
import { device, tokens } from '../sessions/schemas.ts'
import { signInByProvider } from './actions.ts'

const ProviderToken = Secret({ max: 8_192 })

const SignedIn = Type.Object({ success: Type.Literal(true), ...tokens, isNewUser: Type.Boolean(), user: User })

export const providerRoutes: Routes<Deps> = async (app, { db, ask, issueToken, providers }) => {
  async function answer (reply: FastifyReply, { account, isNewUser, sessionId, refreshToken }: Awaited<ReturnType<typeof signInByProvider>>) {
    const [accessToken, user] = await Promise.all([
      issueToken({ accountId: account.id, sessionId, role: account.role }),
      isNewUser ? describeNewUser(account) : describeUser(ask, account)
    ])
    return await reply.code(isNewUser ? 201 : 200).send({ success: true, accessToken, refreshToken, expiresIn: 900, isNewUser, user })
  }

  const where = (request: FastifyRequest) => ({ address: request.ip, locale: languageOf(request) })

  app.post('/auth/provider-a', {
    schema: {
      summary: 'Sign in or register with provider A',
      body: Body({ idToken: ProviderToken, ...device }),
      response: { 200: SignedIn, 201: SignedIn }
    },
    config: { public: true }
  }, async (request, reply) => {
    const { idToken, ...device } = request.body
    const identity = await providers.PROVIDER_A(idToken)
    if (!identity) throw new InvalidProviderAToken()
    return await answer(reply, await signInByProvider(db, {
      provider: 'PROVIDER_A',
      identity,
      name: nameOrNothing(identity.name),
      image: identity.picture ?? null,
      withoutEmail: () => identity.unverifiedEmail ? new ProviderAEmailNotVerified() : new InvalidProviderAToken(),
      device,
      ...where(request)
    }))
  })

  app.post('/auth/provider-b', {
    schema: {
      summary: 'Sign in or register with provider B',
      body: Body({
        identityToken: ProviderToken,
        fullName: Type.Optional(Body({
          givenName: Type.Optional(Text({ min: 0, max: 100 })),
          familyName: Type.Optional(Text({ min: 0, max: 100 }))
        })),
        email: Type.Optional(Text({ min: 0, max: 254, description: 'Not used: an address counts only when the token vouches for it' })),
        authorizationCode: Type.Optional(Secret({ min: 0, max: 2_048 })),
        ...device
      }),
      response: { 200: SignedIn, 201: SignedIn }
    },
    config: { public: true }
  }, async (request, reply) => {
    const { identityToken, fullName = {}, email: _, authorizationCode: __, ...device } = request.body
    const identity = await providers.PROVIDER_B(identityToken)
    if (!identity) throw new InvalidProviderBToken()
    return await answer(reply, await signInByProvider(db, {
      provider: 'PROVIDER_B',
      identity,
      name: nameOrNothing([fullName.givenName, fullName.familyName].filter(Boolean).join(' ')),
      image: null,
      withoutEmail: () => identity.unverifiedEmail ? new InvalidProviderBToken() : new ProviderBEmailRequired(),
      device,
      ...where(request)
    }))
  })
}

const nameOrNothing = (name: string | undefined) => name && name.trim().length >= 2 ? name.trim().slice(0, 100) : undefined
