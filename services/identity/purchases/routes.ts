import Type from 'typebox'
import { Data, data, Secret, Body, type Routes } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { InvalidPurchase, PurchaseInUse, PurchaseLimitExceeded } from '../errors.ts'
import { callerOf } from '../sessions/caller.ts'
import { describeSubscription } from '../subscriptions/queries.ts'
import { SubscriptionData } from '../subscriptions/schemas.ts'
import { claimPurchase } from './claim.ts'
import { waitUntilConsumed } from './propagation.ts'

const transfer = Type.Optional(Type.Boolean({
  description: 'Whether to move it here from another account. Let the store restore the purchase first'
}))
const purchase = Type.Union([
  Body({
    store: Type.Literal('APPLE'),
    signedTransaction: Secret({ max: 20_000, description: 'The `jwsRepresentation` of the transaction' }),
    transfer
  }),
  Body({
    store: Type.Literal('GOOGLE'),
    purchaseToken: Secret({ max: 2_000, description: 'The purchase token of Play Billing' }),
    transfer
  })
])

export const purchaseRoutes: Routes<Deps> = async (app, deps) => {
  app.post('/subscription/purchases', {
    schema: {
      operationId: 'addPurchase',
      summary: 'Use a purchase of a store',
      description:
        'Send it after the store has confirmed it, and to restore it. Repeating it changes nothing. Returns 202 while ' +
        'the payment is on its way. The next request of the app already has what it unlocks.',
      'x-extension': true,
      body: purchase,
      errors: [InvalidPurchase, PurchaseInUse, PurchaseLimitExceeded, Unavailable],
      response: { 200: Data(SubscriptionData), 202: Data(SubscriptionData) }
    }
  }, async ({ account, body }, reply) => {
    const isPending = await claimPurchase(deps, callerOf(account), body)
    await waitUntilConsumed(deps, account.id)
    const subscription = await describeSubscription(deps.db, deps, account.id)
    return await reply.code(isPending ? 202 : 200).send(data({ subscription }))
  })
}
