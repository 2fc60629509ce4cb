import Type from 'typebox'
import { Body, Data, data, Id, Message, message, Nullable, Text, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { StoreSubscription } from '../subscriptions/schemas.ts'
import { cancelSubscriptionOf, grantSubscription, recheckPurchases } from './actions.ts'
import { readDerivation } from './subscriptions.ts'

const Reason = Text({ min: 3, max: 500, description: 'The case, or why' })
const Derivation = Type.Object({
  usesSandbox: Type.Boolean(),
  subscription: Nullable(StoreSubscription),
  purchases: Type.Array(Type.Object({
    id: Type.String(),
    store: Type.String(),
    environment: Type.String(),
    productId: Type.String(),
    planId: Type.String(),
    saidState: Type.String({ description: 'As the store said it' }),
    state: Type.String({ description: 'With what has ended since' }),
    willRenew: Type.Boolean(),
    isTrial: Type.Boolean(),
    isFamilyShared: Type.Boolean(),
    isReplaced: Type.Boolean({ description: 'Whether an upgrade has ended it' }),
    isMoved: Type.Boolean({ description: 'Whether it has left the account, as for another one' }),
    periodStart: Timestamp,
    periodEnd: Timestamp,
    countsUntil: Timestamp,
    knownAt: Timestamp,
    answeredAt: Nullable(Timestamp),
    asksAt: Nullable(Timestamp),
    isAcknowledged: Type.Boolean(),
    moves: Type.Integer(),
    isChosen: Type.Boolean({ description: 'Whether the subscription is derived from it' })
  })),
  grants: Type.Array(Type.Object({
    id: Type.String(),
    planId: Type.String(),
    reason: Type.String(),
    givenBy: Nullable(Type.String()),
    startsAt: Timestamp,
    endsAt: Timestamp,
    endedAt: Nullable(Timestamp),
    isChosen: Type.Boolean()
  })),
  plans: Type.Array(Type.String())
})

/** What support sees and does about subscriptions. Each route needs a reason, which the audit keeps. */
export const subscriptionOperatorRoutes: Routes<Deps> = async (app, deps) => {
  const params = Type.Object({ id: Id })

  app.get('/operator/people/:id/subscription', {
    config: forOperators('subscriptions.read', { person: 'id' }),
    schema: {
      hide: true,
      params,
      querystring: Type.Object({ reason: Reason }),
      response: { 200: Data(Derivation) }
    }
  }, async ({ params: { id } }) => {
    const plans = deps.subscriptions.plans.map(({ planId }) => planId)
    return data({ ...await readDerivation(deps, id), plans })
  })

  app.post('/operator/people/:id/subscription/recheck', {
    config: forOperators('subscriptions.read', { person: 'id' }),
    schema: { hide: true, params, body: Body({ reason: Reason }), response: { 200: Message } }
  }, async ({ params: { id } }) => {
    await recheckPurchases(deps.db, { id })
    return message('The stores are asked')
  })

  app.post('/operator/people/:id/subscription/grant', {
    config: forOperators('subscriptions.grant', { person: 'id' }),
    schema: {
      hide: true,
      params,
      body: Body({
        planId: Text({ max: 50 }),
        days: Type.Integer({ minimum: 1, maximum: 3_650 }),
        reason: Reason
      }),
      response: { 200: Message }
    }
  }, async ({ params: { id }, body: { planId, days }, operator }) => {
    await grantSubscription(deps, { id }, { planId, days, givenBy: operator.id })
    return message('The plan is granted')
  })

  app.post('/operator/people/:id/subscription/take', {
    config: forOperators('subscriptions.grant', { person: 'id' }),
    schema: { hide: true, params, body: Body({ reason: Reason }), response: { 200: Message } }
  }, async ({ params: { id } }) => {
    await cancelSubscriptionOf(deps, { id })
    return message('What was granted has ended')
  })
}
