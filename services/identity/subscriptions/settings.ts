import Type from 'typebox'
import { DEFAULT_PLANS, readPlans, type Plan } from './plans.ts'
import type { Store } from '../tables.ts'

/** How purchases become subscriptions. */
export interface SubscriptionSettings {
  plans: Plan[]
  /** Whose purchases in the stores' sandboxes count: those of no account, of accounts that an operator marked, or of all. */
  sandbox: 'off' | 'marked' | 'all'
  /** Whether a purchase that its buyer shares with their family counts for the others. */
  familySharing: boolean
  /** For how long a purchase that renews goes on after its period, until its store has said whether it did. */
  slackMs: Record<Store, number>
}

export const SubscriptionVariables = {
  SUBSCRIPTION_PLANS: Type.String({
    default: DEFAULT_PLANS,
    description: 'What is sold: a JSON list of {planId, unlocks, entitlements, products {apple, google, revenuecat}}'
  }),
  SANDBOX_PURCHASES: Type.Enum(['off', 'marked', 'all'], {
    type: 'string',
    default: 'marked',
    description:
      "Whose purchases in the stores' sandboxes count: of no account, of those that an operator marked, or of all"
  }),
  FAMILY_SHARING: Type.Boolean({
    default: true,
    description: 'Whether a purchase that its buyer shares with their family counts for the others'
  }),
  APPLE_KEY_FILE: Type.Optional(
    Type.String({ description: 'The private key of the App Store Server API (.p8); without one Apple is never asked' })
  )
}

const HOUR_MS = 60 * 60 * 1_000

/** @throws ConfigError */
export function subscriptionSettings (
  config: {
    SUBSCRIPTION_PLANS: string,
    SANDBOX_PURCHASES: SubscriptionSettings['sandbox'],
    FAMILY_SHARING: boolean,
    APPLE_KEY_FILE?: string
  }
): SubscriptionSettings {
  return {
    plans: readPlans(config.SUBSCRIPTION_PLANS),
    sandbox: config.SANDBOX_PURCHASES,
    familySharing: config.FAMILY_SHARING,
    // Without a key Apple cannot be asked, and its notification of a renewal is only a matter of time.
    slackMs: {
      APPLE: config.APPLE_KEY_FILE ? 24 * HOUR_MS : 2 * HOUR_MS,
      GOOGLE: 24 * HOUR_MS,
      REVENUECAT: 24 * HOUR_MS
    }
  }
}

/** Without any configuration. */
export const DEFAULT_SUBSCRIPTIONS = subscriptionSettings({
  SUBSCRIPTION_PLANS: DEFAULT_PLANS,
  SANDBOX_PURCHASES: 'marked',
  FAMILY_SHARING: true
})
