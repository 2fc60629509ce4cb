import Type from 'typebox'
import { Enum, named, Nullable, Timestamp } from '@tandem/http-kit'

export const StoreSubscription = named(
  'StoreSubscription',
  Type.Object({
    id: Type.String({ examples: ['019aa1c7-0b6e-7f21-8a44-5d9c2b7e1f30'] }),
    planId: Type.String({ examples: ['premium'] }),
    status: Enum(['ACTIVE', 'CANCELED', 'EXPIRED'], {
      description: 'ACTIVE: the plan counts now. CANCELED: it was taken back, such as after a refund'
    }),
    currentPeriodStart: Timestamp,
    currentPeriodEnd: Type.Unsafe<Date | string>({
      ...Timestamp,
      description: 'Until when the plan counts, with the time that the store gives to pay or to renew'
    }),
    state: Enum(['PENDING', 'ACTIVE', 'GRACE', 'HOLD', 'PAUSED', 'EXPIRED', 'REVOKED'], {
      description:
        'What the store says. PENDING: the payment is on its way. GRACE: it failed, and the plan still counts. HOLD: it ' +
        'failed, and the plan does not count until it is paid. REVOKED: refunded, or taken back'
    }),
    store: Enum(['APPLE', 'GOOGLE', 'REVENUECAT', 'OPERATOR'], { description: 'OPERATOR: nobody pays for it' }),
    willRenew: Type.Boolean(),
    isSandbox: Type.Boolean(),
    isFamilyShared: Type.Boolean(),
    manageUrl: Nullable(Type.String({ examples: ['https://apps.apple.com/account/subscriptions'] }), {
      description: 'Where the person changes or cancels it'
    }),
    entitlements: Type.Array(Type.String({ examples: ['unlimited_swipes'] }), {
      description: 'What it unlocks now: `unlimited_swipes`, `see_likes`'
    })
  })
)

export const SubscriptionData = Type.Object({
  subscription: Nullable(StoreSubscription, { description: 'Null if there never was one' })
})

const products = (examples: string[]) => Type.Array(Type.String(), { examples: [examples] })

export const PlanData = Type.Object({
  accountToken: Type.String({
    description:
      'Pass it to the store: as `appAccountToken` of StoreKit, `obfuscatedExternalAccountId` of Play Billing, or the app ' +
      'user id of RevenueCat',
    examples: ['5b0f4a1e-9a53-4d59-8b86-1f0c7c1f4f0e']
  }),
  plans: Type.Array(named(
    'SubscriptionPlan',
    Type.Object({
      planId: Type.String({ examples: ['premium'] }),
      unlocks: Type.Array(Type.String(), { examples: [['Swipe without a limit']] }),
      products: Type.Object({
        apple: products(['com.example.app.premium.monthly']),
        google: products(['premium']),
        revenuecat: products(['premium_monthly'])
      })
    })
  ))
})
