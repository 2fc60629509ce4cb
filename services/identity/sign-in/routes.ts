import Type from 'typebox'
import { Body, Message, message, networkOf, type Routes } from '@tandem/service-kit'
import { Email } from '../accounts/schemas.ts'
import { Code } from '../codes/schemas.ts'
import type { Deps } from '../deps.ts'
import { Password } from '../passwords/schemas.ts'
import { logRefusal } from '../security-log/actions.ts'
import { device } from '../sessions/schemas.ts'
import { signIn, signInByCode } from './actions.ts'
import { describeSignIn, signedIn } from './envelope.ts'

const SignedIn = Type.Object(signedIn)

export const signInRoutes: Routes<Deps> = async (app, deps) => {
  app.post('/auth/login', {
    schema: {
      summary: 'Sign in by password',
      description: 'After five wrong passwords in a row an address waits, a second at first and a minute at most; within the wait every password is wrong. ' +
        'A network that the account was signed in to from before waits only for its own wrong passwords. ' +
        '401 INVALID_CREDENTIALS, PROVIDER_A_ACCOUNT; 403 EMAIL_NOT_VERIFIED.',
      body: Body({ email: Email, password: Password, ...device }),
      response: { 200: SignedIn }
    },
    config: { public: true }
  }, async ({ body: { email, password, ...device }, ip }) =>
    await describeSignIn(deps, await logRefusal(deps.db, { method: 'PASSWORD', email }, signIn(deps, { email, password, client: { address: ip, device } }))))

  app.post('/auth/request-code', {
    schema: {
      summary: 'Mail a code to sign in with',
      description: 'Good for 10 minutes. Answers alike whether or not the address has an account.',
      'x-extension': true,
      body: Body({ email: Email }),
      response: { 200: Message }
    },
    config: { public: true }
  }, async ({ body: { email }, ip }) => {
    await deps.mailRequests.add({ kind: 'SIGN_IN', email, network: networkOf(ip) })
    return message('If this address is registered, a code is on its way to it')
  })

  app.post('/auth/login-code', {
    schema: {
      summary: 'Sign in by a mailed code',
      description: 'Verifies the address too. If nobody had done so before, whoever registered it loses his password and sessions. 400 INVALID_CODE.',
      'x-extension': true,
      body: Body({ email: Email, code: Code, ...device }),
      response: { 200: SignedIn }
    },
    config: { public: true }
  }, async ({ body: { email, code, ...device }, ip }) =>
    await describeSignIn(deps, await logRefusal(deps.db, { method: 'CODE', email }, signInByCode(deps, { email, code, client: { address: ip, device } }))))
}
