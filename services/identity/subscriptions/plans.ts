import Type from 'typebox'
import { Value } from 'typebox/value'
import { ENTITLEMENTS } from '@tandem/contracts'
import { ConfigError } from '@tandem/process-kit'
import type { Store } from '../tables.ts'

const ids = Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 50 }))
const PlanList = Type.Array(
  Type.Object({
    planId: Type.String({ pattern: '^[\\w.-]{1,50}$' }),
    /** What the paywall says that the plan unlocks. */
    unlocks: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 20 }),
    entitlements: Type.Array(Type.Enum([...ENTITLEMENTS])),
    products: Type.Object({ apple: ids, google: ids, revenuecat: ids }, { additionalProperties: false })
  }, { additionalProperties: false }),
  { minItems: 1, maxItems: 20 }
)

export type Plan = Type.Static<typeof PlanList>[number]

/** Without products, no store sells it: operators can still grant it. */
export const DEFAULT_PLANS = JSON.stringify([{
  planId: 'premium',
  unlocks: ['Swipe without a limit', 'See who likes you'],
  entitlements: ENTITLEMENTS,
  products: {}
}])

/** @throws ConfigError */
export function readPlans (text: string): Plan[] {
  const plans = parse(text)
  if (!Value.Check(PlanList, plans)) {
    throw new ConfigError(
      'SUBSCRIPTION_PLANS must be a JSON list of {planId, unlocks, entitlements, products {apple, google, revenuecat}}'
    )
  }
  const products = plans.flatMap(({ products }) =>
    Object.entries(products).flatMap(([store, ids]) => ids.map((id) => `${store} ${id}`))
  )
  if (new Set(products).size < products.length || new Set(plans.map(({ planId }) => planId)).size < plans.length) {
    throw new ConfigError('SUBSCRIPTION_PLANS names a plan or a product twice')
  }
  return plans
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return
  }
}

const storeKeys = { APPLE: 'apple', GOOGLE: 'google', REVENUECAT: 'revenuecat' } as const

/** The plan that a product of a store stands for; undefined for an unknown product. */
export const findPlanOf = (plans: Plan[], store: Store, productId: string) =>
  plans.find(({ products }) => products[storeKeys[store]]?.includes(productId))

/** What a plan unlocks. One that operators granted and nobody configured unlocks everything. */
export const entitlementsOf = (plans: Plan[], planId: string): string[] =>
  plans.find((plan) => plan.planId === planId)?.entitlements ?? [...ENTITLEMENTS]
