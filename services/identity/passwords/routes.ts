import Type from 'typebox'
import { networkOf } from '@tandem/account-kit'
import { Body, Data, data, Message, message, type Routes, Secret } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  AccountBanned,
  PasswordsDiffer,
  UserNotFound,
  PasswordAlreadySet,
  CommonPassword,
  EmailNotVerified,
  InvalidCurrentPassword,
  InvalidResetToken
} from '../errors.ts'
import { Email } from '../schemas.ts'
import { logSignInFailure } from '../security-log/actions.ts'
import { callerOf } from '../sessions/caller.ts'
import { changePassword, resetPassword, setInitialPassword } from './actions.ts'
import { isResetValid } from './queries.ts'
import { NewPassword, Password, ResetPassword } from './schemas.ts'

const DataMessage = (example: string) => Data(Type.Object({ message: Type.String({ examples: [example] }) }))
const ResetToken = Secret({ max: 500, description: 'The token from the link', examples: ['pX3f9kQe…'] })

export const passwordRoutes: Routes<Deps> = async (app, deps) => {
  const { db, mailRequests } = deps

  app.post('/auth/set-initial-password', {
    schema: {
      operationId: 'setInitialPassword',
      summary: 'Set a first password',
      description: 'For an account that has signed in only with mailed codes or a provider.',
      body: Body({
        password: NewPassword,
        confirmPassword: Type.Optional(Secret({ min: 0, max: 128, examples: ['Wide-Open-5ky'] }))
      }),
      errors: [UserNotFound, PasswordAlreadySet, PasswordsDiffer, CommonPassword],
      response: { 200: Message }
    },
    config: { unauthorizedOnly: true }
  }, async ({ body: { password, confirmPassword }, account }) => {
    if (confirmPassword !== undefined && confirmPassword !== password) throw new PasswordsDiffer()
    await setInitialPassword(deps, callerOf(account), password)
    return message('Your password is set')
  })

  app.post('/auth/change-password', {
    schema: {
      operationId: 'changePassword',
      summary: 'Change the password and sign out all other devices',
      description:
        'Requires a verified email address. An account has five attempts an hour. Wrong passwords count as ' +
        'failed sign-ins.',
      'x-extension': true,
      body: Body({ currentPassword: Password, password: NewPassword }),
      errors: [UserNotFound, AccountBanned, EmailNotVerified, InvalidCurrentPassword, CommonPassword],
      response: { 200: Message }
    }
  }, async ({ body, account, ip }) => {
    const change = changePassword(deps, callerOf(account), { network: networkOf(ip), ...body })
    await logSignInFailure(db, { method: 'CHANGE_PASSWORD', accountId: account.id }, change)
    return message('Your password has been changed')
  })

  app.post('/auth/forgot-password', {
    schema: {
      operationId: 'requestPasswordReset',
      summary: 'Request a password reset link by mail',
      description: 'The link expires in one hour and can be used once. The response is the same whether or not the ' +
        'address has an account with a password.',
      body: Body({ email: Email }),
      response: { 200: DataMessage('If this address has a password, we have sent a link to it') }
    },
    config: { public: true }
  }, async ({ body: { email }, ip }) => {
    await mailRequests.add({ kind: 'RESET', email, network: networkOf(ip) })
    return data({ message: 'If this address has a password, we have sent a link to it' })
  })

  app.get('/auth/reset-password', {
    schema: {
      operationId: 'checkPasswordReset',
      summary: 'Check whether a reset link is valid',
      description: 'For the page behind the link in the email. Checking does not use the link up.',
      querystring: Type.Object({ token: ResetToken, email: Email }),
      response: { 200: Data(Type.Object({ valid: Type.Boolean() })) }
    },
    config: { public: true },
    // iOS does not encode the plus of an address in a query, and the server reads it as a space.
    preValidation: async ({ query }) => {
      if (typeof query.email === 'string') query.email = query.email.trim().replaceAll(' ', '+')
    }
  }, async ({ query }) => data({ valid: await isResetValid(db, query) }))

  app.post('/auth/reset-password', {
    schema: {
      operationId: 'resetPassword',
      summary: 'Set a new password with the link and sign out all devices',
      description: 'The link works for an hour, once. A mail tells the owner.',
      body: Body({ email: Email, token: ResetToken, password: ResetPassword }),
      errors: [InvalidResetToken],
      response: { 200: DataMessage('Your password has been changed. Please sign in.') }
    },
    config: { public: true }
  }, async ({ body, ip }) => {
    await resetPassword(deps, { ...body, address: ip })
    return data({ message: 'Your password has been changed. Please sign in.' })
  })
}
