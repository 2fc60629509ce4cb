import { Data, data, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { UserNotFound } from '../errors.ts'
import { describeSubscription, findAccountToken } from './queries.ts'
import { PlanData, SubscriptionData } from './schemas.ts'

export const subscriptionRoutes: Routes<Deps> = async (app, deps) => {
  const { db, subscriptions } = deps

  app.get('/subscription/plans', {
    schema: {
      operationId: 'listSubscriptionPlans',
      summary: 'List what can be bought',
      description:
        'The prices are those of the store. Pass `accountToken` to it, so that the purchase finds its account.',
      'x-extension': true,
      errors: [UserNotFound],
      response: { 200: Data(PlanData) }
    }
  }, async ({ account: { id } }) => {
    const accountToken = await findAccountToken(db, id)
    if (accountToken === undefined) throw new UserNotFound()
    const plans = subscriptions.plans.map((
      { planId, unlocks, products: { apple = [], google = [], revenuecat = [] } }
    ) => ({
      planId,
      unlocks,
      products: { apple, google, revenuecat }
    }))
    return data({ accountToken, plans })
  })

  app.get('/subscription', {
    schema: {
      operationId: 'getSubscription',
      summary: 'Get my subscription',
      description: 'As the store describes it, and until when it counts here.',
      'x-extension': true,
      response: { 200: Data(SubscriptionData) }
    }
  }, async ({ account: { id } }) => data({ subscription: await describeSubscription(db, deps, id) }))
}
