import Type from 'typebox'
import { Body, Data, data, Enum, Secret, ValidationError, type Routes } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { InvalidPurchase, PurchaseInUse, PurchaseLimitExceeded } from '../errors.ts'
import { callerOf } from '../sessions/caller.ts'
import { describeSubscription } from '../subscriptions/queries.ts'
import { SubscriptionData } from '../subscriptions/schemas.ts'
import { claimPurchase, type SentPurchase } from './claim.ts'
import { waitUntilConsumed } from './propagation.ts'

const purchase = Body({
  store: Enum(['APPLE', 'GOOGLE']),
  signedTransaction: Type.Optional(Secret({
    max: 20_000,
    description: 'For APPLE: the `jwsRepresentation` of the transaction',
    examples: ['eyJhbGciOiJFUzI1NiIsIng1YyI6WyJNSUlF…']
  })),
  purchaseToken: Type.Optional(Secret({
    max: 2_000,
    description: 'For GOOGLE: the purchase token of Play Billing',
    examples: ['oeifjgkbpdnmmoaaoohbjbcd.AO-J1Oz…']
  })),
  transfer: Type.Optional(Type.Boolean({
    description: 'Whether to move it here from another account. Let the store restore the purchase first'
  }))
})

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
    const isPending = await claimPurchase(deps, callerOf(account), readSent(body))
    await waitUntilConsumed(deps, account.id)
    const subscription = await describeSubscription(deps.db, deps, account.id)
    return await reply.code(isPending ? 202 : 200).send(data({ subscription }))
  })
}

/** @throws ValidationError */
function readSent (
  { store, signedTransaction, purchaseToken, transfer = false }: Type.Static<typeof purchase>
): SentPurchase {
  if (store === 'APPLE' && signedTransaction !== undefined) return { store, signedTransaction, transfer }
  if (store === 'GOOGLE' && purchaseToken !== undefined) return { store, purchaseToken, transfer }
  throw new ValidationError('signedTransactionIsRequiredForAPPLE', ['signedTransaction'])
}
