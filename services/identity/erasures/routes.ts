import Type from 'typebox'
import { Body, Data, data, Id, languageOfRequest, Text, type Routes } from '@tandem/http-kit'
import type { RouteDeps } from '../deps.ts'
import { AccountBanned, DeletionBegun, ErasureNotFound, InvalidResetToken } from '../errors.ts'
import { tryToDecideReferral } from '../referrals/actions.ts'
import { describeSignIn, signedIn } from '../sign-in/response.ts'
import { device } from '../sessions/schemas.ts'
import { describeErasure } from './describe.ts'
import { findErasure } from './queries.ts'
import { restoreAccount } from './restore.ts'
import { Deletion } from './schemas.ts'

export const erasureRoutes: Routes<RouteDeps> = async (app, deps) => {
  app.post(
    '/account/deletion/cancel',
    {
      schema: {
        operationId: 'cancelAccountDeletion',
        summary: 'Cancel the deletion of an account',
        description: 'The token comes with the refusal of a sign-in, and is valid for 15 minutes. ' +
          'Everything is as it was before, and a session starts. The token of a mail also verifies the address: if it was ' +
          'not verified before, the password of the registration is revoked. The deletion of a banned account is ' +
          'canceled too, but no session starts.',
        'x-extension': true,
        body: Body({
          restoreToken: Text({
            max: 500,
            description: 'The restoreToken of the sign-in',
            examples: ['q3X0b1rV0n5kZk5mZ0hJc2x1d2p5']
          }),
          ...device
        }),
        errors: [InvalidResetToken, DeletionBegun, AccountBanned],
        response: { 200: Type.Object(signedIn) }
      },
      config: { public: true }
    },
    async ({ body: { restoreToken, ...device }, ip, log }) => {
      const restored = await restoreAccount(deps, restoreToken, { address: ip, device })
      await tryToDecideReferral(deps, log, restored.account.id)
      return await describeSignIn(deps, restored)
    }
  )

  app.get('/account/deletions/:id', {
    schema: {
      operationId: 'getAccountDeletion',
      summary: 'Get a deletion, and its receipt once it is complete',
      description: 'The id is random; who knows it may read the receipt, which names nobody. It is kept for a year.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [ErasureNotFound],
      response: { 200: Data(Type.Object({ deletion: Deletion })) }
    },
    config: { public: true }
  }, async (request) => {
    const erasure = await findErasure(deps.db, request.params.id)
    if (!erasure) throw new ErasureNotFound()
    return data({ deletion: describeErasure(erasure, languageOfRequest(request)) })
  })
}
