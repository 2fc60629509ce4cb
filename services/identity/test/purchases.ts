import { Unavailable } from '@tandem/process-kit'
import { silentLog } from '@tandem/http-kit/testing'
import { until, type Teardown } from '@tandem/test-kit'
import { checkDue } from '../purchases/checks.ts'
import { updateSubscriptions } from '../subscriptions/actions.ts'
import { testApp } from './app.ts'
import { createClock, startStores, subscriptions } from './stores.ts'

type AppOptions = NonNullable<Parameters<typeof testApp>[1]>
interface Account {
  id: string
  accessToken: string
}

/** The service with the stand-ins of the stores, what an app and the stores send to it, and a clock that moves all of them. */
export async function testPurchases (t: Teardown, options: AppOptions = {}) {
  const clock = createClock()
  const stores = await startStores(t, { clock: clock.now })
  const { appStore, play } = stores
  const created = await stores.create()
  await waitForStores(created, stores)
  const app = await testApp(t, {
    createStores: async () => created,
    subscriptions,
    clock: clock.now,
    ...options
  })
  const { db, deps, get, post, publishedEvents } = app

  /** Waits until everything that the stores sent is handled. */
  const allHandled = async () =>
    await until(async () =>
      (await db.selectFrom('store_notifications').where('done_at', 'is', null).select('id').execute()).length === 0
    )

  return {
    ...app,
    ...stores,
    stores: created,
    clock,
    allHandled,
    tokenOf: async (account: Account): Promise<string> =>
      (await get('/subscription/plans', { as: account })).data.accountToken,
    subscriptionOf: async (account: Account) => (await get('/subscription', { as: account })).data.subscription,
    /** The app sends a purchase. */
    sendApple: async (account: Account, id: string, extra: object = {}) =>
      await post('/subscription/purchases', {
        store: 'APPLE',
        signedTransaction: await appStore.signTransaction(id),
        ...extra
      }, { as: account }),
    sendGoogle: async (account: Account, purchaseToken: string, extra: object = {}) =>
      await post('/subscription/purchases', { store: 'GOOGLE', purchaseToken, ...extra }, { as: account }),
    /** The App Store notifies of the present state, and this is handled. */
    async notify (id: string, signed: Parameters<typeof appStore.signNotification>[1] = {}) {
      const signedPayload = await appStore.signNotification(id, signed)
      const response = await post('/webhooks/app-store', { signedPayload })
      await allHandled()
      return response
    },
    /** Google Play notifies, and has been asked. */
    async push (token: string, notification: object = { subscriptionNotification: { purchaseToken: token } }) {
      const { body, headers } = await play.createPush(notification)
      const response = await post('/webhooks/google-play', body, { headers })
      await allHandled()
      return response
    },
    /** What is due by the clock of the test becomes due by that of the database, and is done. */
    async runChecks () {
      await db.updateTable('purchases').set({ check_at: new Date() }).where('check_at', '<=', clock.now()).execute()
      await checkDue(deps, silentLog)
      await updateSubscriptions(deps)
    },
    eventsOf: async (account: Account, kind: 'changed' | 'notice') =>
      (await publishedEvents(account.id)).filter(({ type }) => type === `subscription.${kind}`)
  }
}

type StandIns = Awaited<ReturnType<typeof startStores>>

/** The first call of a store loads its library, for which a busy machine takes longer than a request waits. */
async function waitForStores (
  { apple, google }: Awaited<ReturnType<StandIns['create']>>,
  { appStore }: StandIns
) {
  for (const environment of ['Production', 'Sandbox']) {
    const transaction = await appStore.signTransaction(appStore.buy({ productId: 'premium.monthly', environment }))
    await untilAvailable(async () => await apple.readTransaction(transaction))
  }
  await untilAvailable(async () => await google.ask('unknown'))
}

const untilAvailable = async (work: () => Promise<unknown>) =>
  await until(async () =>
    await work().then(() => true, (error) => {
      if (error instanceof Unavailable) return false
      throw error
    })
  )
