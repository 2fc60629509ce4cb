import { startStores } from '../../services/identity/test/stores.ts'
import { startFakeFcm } from '../../services/notification/test/fake-fcm.ts'
import { watchEvents } from './dev-page/events.ts'
import { startDevPage, type DevPageOptions } from './dev-page/server.ts'

export interface DeveloperTools {
  /** The variables with which the notification service sends its pushes to the developer page. */
  pushEnvironment: NodeJS.ProcessEnv
  /** The variables with which the identity service sells at stand-ins of the stores. */
  storeEnvironment: NodeJS.ProcessEnv
  stop: () => Promise<void>
}

interface Options extends Omit<DevPageOptions, 'stores'> {
  natsUrl: string
  sendsRealPushes: boolean
  hasRealStores: boolean
}

/**
 * The developer page and what it shows: every event, and the pushes, which a stand-in for the provider accepts. Stand-ins
 * for the stores sell to the sample app.
 */
export async function startDeveloperTools (
  { natsUrl, sendsRealPushes, hasRealStores, ...options }: Options
): Promise<DeveloperTools> {
  const closes: (() => Promise<unknown>)[] = []
  const teardown = (close: () => Promise<unknown>) => closes.push(close)
  const stores = hasRealStores ? undefined : await startStores({ teardown }, { clock: () => new Date() })
  const { feed, stop } = await startDevPage({ ...options, stores })
  const stopEvents = await watchEvents(natsUrl, feed)
  const provider = sendsRealPushes ? undefined : await startFakeFcm()
  provider?.onSend((push) => {
    feed.add('pushes', push)
    // The page keeps what it shows.
    provider.seen.length = 0
  })
  return {
    pushEnvironment: provider ? { FCM_SERVICE_ACCOUNT_FILE: provider.file, FCM_BASE_URL: provider.url } : {},
    storeEnvironment: stores?.variables ?? {},
    async stop () {
      await Promise.all([stop(), stopEvents(), provider?.close(), ...closes.map(async (close) => await close())])
    }
  }
}
