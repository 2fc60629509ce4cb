import Type from 'typebox'
import { Body, Data, data, Message, message, Secret, type Routes } from '@tandem/http-kit'
import { Code } from '../codes/schemas.ts'
import type { Deps } from '../deps.ts'
import { DeletionBegun, EmailExists, InvalidCode, InvalidResetToken, ProofRequired } from '../errors.ts'
import { Proof } from '../proofs/schemas.ts'
import { Email } from '../schemas.ts'
import { callerOf } from '../sessions/caller.ts'
import { confirmEmailChange, requestEmailChange, revertEmailChange } from './actions.ts'

export const addressRoutes: Routes<Deps> = async (app, deps) => {
  app.post('/account/email', {
    schema: {
      operationId: 'requestEmailChange',
      summary: 'Ask to change the address of the account',
      description: 'Needs a proof for CHANGE_EMAIL. A code is mailed to the new address; it expires in ten minutes. ' +
        'Five times a day.',
      'x-extension': true,
      body: Body({ email: Email, proof: Proof }),
      errors: [ProofRequired, EmailExists],
      response: { 200: Message }
    }
  }, async ({ body, account }) => {
    await requestEmailChange(deps, callerOf(account), body)
    return message('We have sent a code to the new address')
  })

  app.post(
    '/account/email/confirm',
    {
      schema: {
        operationId: 'confirmEmailChange',
        summary: 'Change the address with the mailed code',
        description: 'All other sessions end. The old address gets a link to take the change back, for seven days.',
        'x-extension': true,
        body: Body({ code: Code }),
        errors: [InvalidCode, EmailExists],
        response: { 200: Data(Type.Object({ email: Type.String({ examples: ['ana@example.com'] }) })) }
      }
    },
    async ({ body, account }) => data({ email: await confirmEmailChange(deps, callerOf(account), body.code) })
  )

  app.post('/account/email/revert', {
    schema: {
      operationId: 'revertEmailChange',
      summary: 'Take a change of address back with the link mailed to the old address',
      description: 'What was done since the change is taken back too: the password is cleared, every session ends, ' +
        'providers that were linked are removed, and a deletion is canceled. Sign in with a mailed code, then set a ' +
        'new password.',
      'x-extension': true,
      body: Body({
        token: Secret({ max: 100, description: 'The token of the link', examples: ['q3X0b1rV0n5kZk5mZ0hJc2x1d2p5'] })
      }),
      errors: [InvalidResetToken, EmailExists, DeletionBegun],
      response: { 200: Message }
    },
    config: { public: true }
  }, async ({ body }) => {
    await revertEmailChange(deps, body.token)
    return message('Your address is restored. Sign in with a code that we mail to it, then set a new password.')
  })
}
