import Type from 'typebox'
import { networkOf } from '@tandem/account-kit'
import { Body, Message, message, type Routes } from '@tandem/http-kit'
import { Code, CodeLinkToken } from '../codes/schemas.ts'
import type { RouteDeps } from '../deps.ts'
import {
  AccountBanned,
  AccountDeletionPending,
  InvalidCredentials,
  ProviderAAccount,
  EmailNotVerified,
  TooBusy,
  InvalidCode,
  InvalidResetToken
} from '../errors.ts'
import { Password } from '../passwords/schemas.ts'
import { Email } from '../schemas.ts'
import { logSignInFailure } from '../security-log/actions.ts'
import { tryToDecideReferral } from '../referrals/actions.ts'
import { device } from '../sessions/schemas.ts'
import { allowNetwork, signIn, signInByCode, signInByLink } from './actions.ts'
import { describeSignIn, signedIn } from './response.ts'

const SignedIn = Type.Object(signedIn)

export const signInRoutes: Routes<RouteDeps> = async (app, deps) => {
  app.post(
    '/auth/login',
    {
      schema: {
        operationId: 'signIn',
        summary: 'Sign in with a password',
        description:
          'After five wrong passwords in a row an address is blocked, for a second at first and for a minute ' +
          'at most. While it is blocked, every password is rejected. ' +
          'A network that the account has signed in from before is blocked only for its own wrong passwords.',
        body: Body({ email: Email, password: Password, ...device }),
        errors: [
          InvalidCredentials,
          ProviderAAccount,
          EmailNotVerified,
          AccountBanned,
          AccountDeletionPending,
          TooBusy
        ],
        response: { 200: SignedIn }
      },
      config: { public: true }
    },
    async ({ body: { email, password, ...device }, ip }) =>
      await describeSignIn(
        deps,
        await logSignInFailure(
          deps.db,
          { method: 'PASSWORD', email },
          signIn(deps, { email, password, client: { address: ip, device } })
        )
      )
  )

  app.post('/auth/request-code', {
    schema: {
      operationId: 'requestSignInCode',
      summary: 'Request a sign-in code by mail',
      description:
        'The code expires in 10 minutes. The mail has a link too, for `POST /auth/login-link`. The response is the same ' +
        'whether or not the address has an account.',
      'x-extension': true,
      body: Body({ email: Email }),
      response: { 200: Message }
    },
    config: { public: true }
  }, async ({ body: { email }, ip }) => {
    await deps.mailRequests.add({ kind: 'SIGN_IN', email, network: networkOf(ip) })
    return message('If this address is registered, we have sent a code to it')
  })

  app.post(
    '/auth/login-code',
    {
      schema: {
        operationId: 'signInWithCode',
        summary: 'Sign in with a mailed code',
        description:
          'This also verifies the address. If it was not verified before, the password and sessions of the ' +
          'registration are revoked. A code allows five wrong attempts, and an account 20 in 24 hours. The network that ' +
          'requested the code, and each that the account has signed in from, have attempts of their own. All networks ' +
          'together have 80 in 24 hours; then only the link in the mail is accepted.',
        'x-extension': true,
        body: Body({ email: Email, code: Code, ...device }),
        errors: [AccountDeletionPending, InvalidCode],
        response: { 200: SignedIn }
      },
      config: { public: true }
    },
    async ({ body: { email, code, ...device }, ip, log }) => {
      const signedIn = await logSignInFailure(
        deps.db,
        { method: 'CODE', email },
        signInByCode(deps, { email, code, client: { address: ip, device } })
      )
      await tryToDecideReferral(deps, log, signedIn.account.id)
      return await describeSignIn(deps, signedIn)
    }
  )

  app.post(
    '/auth/login-link',
    {
      schema: {
        operationId: 'signInWithLink',
        summary: 'Sign in with the link mailed with a code',
        description: 'For apps that open the link. It works once, as long as the code, however many wrong codes were ' +
          'entered.',
        'x-extension': true,
        body: Body({ token: CodeLinkToken, ...device }),
        errors: [AccountDeletionPending, InvalidResetToken],
        response: { 200: SignedIn }
      },
      config: { public: true }
    },
    async ({ body: { token, ...device }, ip, log }) => {
      const signedIn = await signInByLink(deps, { token, client: { address: ip, device } })
      await tryToDecideReferral(deps, log, signedIn.account.id)
      return await describeSignIn(deps, signedIn)
    }
  )

  app.post('/auth/login-link/network', {
    schema: {
      operationId: 'allowNetwork',
      summary: 'Accept codes from this network with the link mailed with a code',
      description:
        'For the page behind the link, where no app opens it. Wrong codes and requests for mails that come ' +
        'from elsewhere do not count for this network afterwards. The code stays valid.',
      'x-extension': true,
      body: Body({ token: CodeLinkToken }),
      errors: [InvalidResetToken],
      response: { 200: Message }
    },
    config: { public: true }
  }, async ({ body: { token }, ip }) => {
    await allowNetwork(deps, { token, address: ip })
    return message('Codes are accepted from this network now')
  })
}
