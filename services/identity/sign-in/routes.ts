import Type from 'typebox'
import { Body, Message, message, Text, type Routes } from '@tandem/service-kit'
import { describeUser, User } from '../accounts/user.ts'
import type { Deps } from '../deps.ts'
import { Password } from '../passwords/schemas.ts'
import { Email } from '../registration/schemas.ts'
import { networkOf } from '../sessions/addresses.ts'
import { device, tokens } from '../sessions/schemas.ts'
import { signIn, signInByCode } from './actions.ts'

const SignedIn = Type.Object({ success: Type.Literal(true), ...tokens, user: User })

export const signInRoutes: Routes<Deps> = async (app, deps) => {
  const { ask, issueToken, mailRequests } = deps

  async function answer ({ account, sessionId, refreshToken }: Awaited<ReturnType<typeof signIn>> | Awaited<ReturnType<typeof signInByCode>>) {
    const [accessToken, user] = await Promise.all([
      issueToken({ accountId: account.id, sessionId, role: account.role }), describeUser(ask, account)
    ])
    return { success: true as const, accessToken, refreshToken, expiresIn: 900 as const, user }
  }

  app.post('/auth/login', {
    schema: {
      summary: 'Sign in by password',
      body: Body({ email: Email, password: Password, ...device }),
      response: { 200: SignedIn }
    },
    config: { public: true }
  }, async (request) => {
    const { email, password, ...device } = request.body
    return await answer(await signIn(deps, { email, password, device, address: request.ip }))
  })

  app.post('/auth/request-code', {
    schema: {
      summary: 'Mail a code to sign in with',
      description: 'Answers alike whether or not the address has an account.',
      body: Body({ email: Email }),
      response: { 200: Message }
    },
    config: { 'public': true, 'x-extension': true }
  }, async (request) => {
    await mailRequests.ask({ kind: 'SIGN_IN', email: request.body.email, network: networkOf(request.ip) })
    return message('If this address is registered, a code is on its way to it')
  })

  app.post('/auth/login-code', {
    schema: {
      summary: 'Sign in by a mailed code',
      body: Body({ email: Email, code: Text({ min: 6, max: 6, pattern: '^[0-9]{6}$' }), ...device }),
      response: { 200: SignedIn }
    },
    config: { 'public': true, 'x-extension': true }
  }, async (request) => {
    const { email, code, ...device } = request.body
    return await answer(await signInByCode(deps, { email, code, device, address: request.ip }))
  })
}
