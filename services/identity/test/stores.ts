import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Teardown } from '@tandem/test-kit'
import type { FindPlan } from '../stores/reading.ts'
import type { Plan } from '../subscriptions/plans.ts'
import { startAppStore } from './app-store.ts'
import { startGooglePlay } from './google-play.ts'
import { startRevenueCat } from './revenuecat.ts'

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS

export const plans: Plan[] = [
  {
    planId: 'premium',
    unlocks: ['Swipe without a limit', 'See who likes you'],
    entitlements: ['unlimited_swipes', 'see_likes'],
    products: {
      apple: ['premium.monthly', 'premium.yearly'],
      google: ['premium', 'premium_yearly'],
      revenuecat: ['premium_rc', 'premium_rc_yearly']
    }
  },
  {
    planId: 'plus',
    unlocks: ['Swipe without a limit'],
    entitlements: ['unlimited_swipes'],
    products: { apple: ['plus.monthly'], google: ['plus'], revenuecat: ['plus_rc_yearly'] }
  }
]

/** How purchases become subscriptions if every store can be asked. */
export const subscriptions = { plans, slackMs: { APPLE: DAY_MS, GOOGLE: DAY_MS, REVENUECAT: DAY_MS } }

/** A clock that tests move. */
export function createClock () {
  let offsetMs = 0
  return {
    now: () => new Date(Date.now() + offsetMs),
    advance (hours: number) {
      offsetMs += hours * HOUR_MS
    }
  }
}

/** The three stand-ins with one clock, and how identity is set up for them. */
export async function startStores (t: Teardown, { clock }: { clock: () => Date }) {
  const [appStore, play, revenueCat] = await Promise.all([
    startAppStore({ clock }),
    startGooglePlay({ clock }),
    startRevenueCat({ clock })
  ])
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-stores-'))
  const root = path.join(folder, 'apple-root.der')
  const key = path.join(folder, 'apple-key.p8')
  const account = path.join(folder, 'play.json')
  await Promise.all([
    writeFile(root, Buffer.from(appStore.chain.root.base64, 'base64')),
    writeFile(key, appStore.api.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    writeFile(account, JSON.stringify(play.serviceAccount))
  ])
  t.teardown(async () => {
    await Promise.all([
      appStore.close(),
      play.close(),
      revenueCat.close(),
      rm(folder, { recursive: true, force: true })
    ])
  })
  return {
    appStore,
    play,
    revenueCat,
    /** The variables with which identity uses the stand-ins. */
    variables: {
      SUBSCRIPTION_PLANS: JSON.stringify(plans),
      APPLE_BUNDLE_ID: appStore.bundleId,
      APPLE_APP_ID: String(appStore.appId),
      APPLE_ROOT_CERTIFICATES: root,
      APPLE_KEY_FILE: key,
      APPLE_KEY_ID: appStore.settings.api.keyId,
      APPLE_ISSUER_ID: appStore.settings.api.issuerId,
      APPLE_API_URL: appStore.url,
      PLAY_PACKAGE: play.packageName,
      PLAY_SERVICE_ACCOUNT_FILE: account,
      PLAY_PUSH_AUDIENCE: play.push.audience,
      PLAY_PUSH_EMAIL: play.push.email,
      PLAY_API_URL: play.url,
      PLAY_PUSH_JWKS_URL: `${play.url}/certs`,
      REVENUECAT_SECRET_KEY: revenueCat.secretKey,
      REVENUECAT_WEBHOOK_AUTHORIZATION: revenueCat.webhookAuthorization,
      REVENUECAT_API_URL: revenueCat.url
    },
    /** The stores of identity. Loaded here, because `npm start` needs the stand-ins alone. */
    async create () {
      const [
        { createApple },
        { createGoogle, PLAY_CREDENTIAL },
        { createRevenueCat },
        { findPlanOf },
        { readCredential }
      ] = await Promise.all([
        import('../stores/apple.ts'),
        import('../stores/google.ts'),
        import('../stores/revenuecat.ts'),
        import('../subscriptions/plans.ts'),
        import('@tandem/google-kit')
      ])
      const findPlan: FindPlan = (store, productId) => findPlanOf(plans, store, productId)
      return {
        apple: createApple({ ...appStore.settings, acceptsSandbox: true, onlineChecks: true }, findPlan),
        google: createGoogle(
          {
            packageName: play.packageName,
            credential: await readCredential(account, PLAY_CREDENTIAL),
            apiUrl: play.url,
            push: { ...play.push, jwksUrl: `${play.url}/certs` }
          },
          findPlan,
          clock
        ),
        revenuecat: createRevenueCat(
          {
            secretKey: revenueCat.secretKey,
            webhookAuthorization: revenueCat.webhookAuthorization,
            apiUrl: revenueCat.url
          },
          findPlan,
          clock
        )
      }
    }
  }
}
