import Type from 'typebox'
import { networkOf } from '@tandem/account-kit'
import { Body, Data, data, languageOfRequest, Message, message, Secret, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { describeErasure } from '../erasures/describe.ts'
import { Deletion } from '../erasures/schemas.ts'
import { DeletionPending, EmailChangedRecently, InvalidResetToken, ProofRequired, ProofTooWeak } from '../errors.ts'
import { Proof } from '../proofs/schemas.ts'
import { Email } from '../schemas.ts'
import { callerOf } from '../sessions/caller.ts'
import { confirmDeletion, requestDeletion } from './actions.ts'

const Immediately = Type.Optional(
  Type.Boolean({ description: 'Without the grace period: the erasure begins in 20 minutes', examples: [false] })
)
const response = { 202: Data(Type.Object({ deletion: Deletion })) }

export const deletionRoutes: Routes<Deps> = async (app, deps) => {
  app.post('/account/deletion', {
    schema: {
      operationId: 'deleteAccount',
      summary: 'Delete the account',
      description: 'All devices are signed out, and nobody else sees the person any more. The account is erased at ' +
        '`eraseAt`; until then a sign-in is refused, with a token to cancel. `providers` lists where the person has ' +
        'to disconnect the app themselves (an `authorizationCode` spares that); with `hasSubscription`, a store goes ' +
        'on to bill until they cancel at `manageUrl`. `immediately` needs the proof of a mailed code. While a change of address ' +
        'can be taken back, for seven days, nothing is erased.',
      'x-extension': true,
      body: Body({
        proof: Type.Optional(Proof),
        immediately: Immediately,
        authorizationCode: Type.Optional(
          Secret({
            max: 2_048,
            description:
              'The code of a new sign-in with provider B, at most five minutes old. With it, the connection ' +
              'is ended there when the erasure begins, if this installation is set up for that.',
            examples: ['c6e1…']
          })
        )
      }),
      errors: [ProofRequired, ProofTooWeak, EmailChangedRecently],
      response
    }
  }, async (request, reply) => {
    const erasure = await requestDeletion(deps, callerOf(request.account), request.body)
    return reply.code(202).send(data({ deletion: describeErasure(erasure, languageOfRequest(request)) }))
  })

  app.post('/account/deletion/link', {
    schema: {
      operationId: 'requestDeletionLink',
      summary: 'Mail a link that deletes an account',
      description: 'For people who cannot sign in any more. The link expires in one hour and can be used once. The ' +
        'response is the same whether or not the address has an account.',
      'x-extension': true,
      body: Body({ email: Email }),
      response: { 200: Message }
    },
    config: { public: true }
  }, async ({ body: { email }, ip }) => {
    await deps.mailRequests.add({ kind: 'DELETION', email, network: networkOf(ip) })
    return message('If this address is registered, we have sent a link to it')
  })

  app.post(
    '/account/deletion/confirm',
    {
      schema: {
        operationId: 'confirmAccountDeletion',
        summary: 'Delete an account with the mailed link',
        description: 'For people who cannot sign in any more. It works like the deletion in the app.',
        'x-extension': true,
        body: Body({
          token: Secret({ max: 500, description: 'The token from the link', examples: ['pX3f9kQe…'] }),
          immediately: Immediately
        }),
        errors: [InvalidResetToken, DeletionPending, EmailChangedRecently],
        response
      },
      config: { public: true }
    },
    async (request, reply) => {
      const erasure = await confirmDeletion(deps, request.body)
      return reply.code(202).send(data({ deletion: describeErasure(erasure, languageOfRequest(request)) }))
    }
  )
}
