import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Type from 'typebox'
import t from 'tap'
import { silentLog } from '@tandem/http-kit/testing'
import { readConfig } from '@tandem/process-kit'
import { SubscriptionVariables, subscriptionSettings } from '../subscriptions/settings.ts'
import { startStores } from '../test/stores.ts'
import { createStores, StoreVariables } from './settings.ts'

const { variables } = await startStores(t, { clock: () => new Date() })
const folder = await mkdtemp(path.join(tmpdir(), 'tandem-store-settings-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const garbage = path.join(folder, 'garbage')
await writeFile(garbage, 'garbage')

async function create (changes: Record<string, string> = {}) {
  const config = readConfig(Type.Object({ ...StoreVariables, ...SubscriptionVariables }), { ...variables, ...changes })
  const subscriptions = subscriptionSettings(config)
  return {
    subscriptions,
    stores: await createStores(config, { subscriptions, clock: () => new Date(), log: silentLog })
  }
}

t.test('the stand-ins print what sets up the three stores', async (t) => {
  const { stores } = await create()
  t.same(Object.values(stores).map((store) => store !== undefined), [true, true, true])
  t.ok(stores.apple?.canAsk)
})

t.test('without any variable no store sells', async (t) => {
  const nothing = Object.fromEntries(Object.keys(variables).map((name) => [name, '']))
  const { stores, subscriptions } = await create(nothing)
  t.same(Object.values(stores).filter(Boolean), [])
  t.match(subscriptions.plans, [{ planId: 'premium', products: {} }])
  t.equal(subscriptions.sandbox, 'marked')
})

t.test('a renewal of a store that cannot be asked counts for two hours', async (t) => {
  const { subscriptions, stores } = await create({ APPLE_KEY_FILE: '', APPLE_KEY_ID: '', APPLE_ISSUER_ID: '' })
  t.equal(subscriptions.slackMs.APPLE, 2 * 60 * 60 * 1_000)
  t.equal((await create()).subscriptions.slackMs.APPLE, 24 * 60 * 60 * 1_000)
  t.equal(stores.apple?.canAsk, false)
})

t.test('a store that is set up in part stops the service, with the names of the variables', async (t) => {
  const wrong: [changes: Record<string, string>, message: RegExp][] = [
    [{ APPLE_BUNDLE_ID: '' }, /APPLE_BUNDLE_ID/],
    [{ APPLE_APP_ID: '' }, /APPLE_APP_ID/],
    [{ APPLE_KEY_ID: '' }, /APPLE_KEY_ID/],
    [{ APPLE_KEY_FILE: garbage }, /APPLE_KEY_FILE must be a private key/],
    [{ APPLE_ROOT_CERTIFICATES: path.join(folder, 'none') }, /APPLE_ROOT_CERTIFICATES/],
    [{ PLAY_PACKAGE: '' }, /PLAY_PACKAGE/],
    [{ PLAY_PUSH_EMAIL: '' }, /PLAY_PUSH_EMAIL/],
    [{ PLAY_SERVICE_ACCOUNT_FILE: garbage }, /PLAY_SERVICE_ACCOUNT_FILE/],
    [{ REVENUECAT_SECRET_KEY: '' }, /REVENUECAT_SECRET_KEY/]
  ]
  for (const [changes, message] of wrong) await t.rejects(create(changes), { name: 'ConfigError', message })
  t.throws(() => readConfig(Type.Object(StoreVariables), { APPLE_ENVIRONMENT: 'Xcode' }), { name: 'ConfigError' })
  t.throws(() => readConfig(Type.Object(StoreVariables), { APPLE_ENVIRONMENT: 'LocalTesting' }), {
    name: 'ConfigError'
  })
})

t.test('in production no stand-in is accepted: neither its addresses nor its root certificate', async (t) => {
  const production = { NODE_ENV: 'production' }
  await t.rejects(create(production), { message: /APPLE_API_URL must be an https URL/ })
  const https = {
    ...production,
    APPLE_API_URL: '',
    PLAY_API_URL: '',
    PLAY_PUSH_JWKS_URL: '',
    REVENUECAT_API_URL: ''
  }
  await t.rejects(create(https), { message: /must be Apple Root CA - G3/ })
})
