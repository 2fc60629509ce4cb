import { startFakeFcm } from '../../services/notification/test/fake-fcm.ts'
import { watchEvents } from './dev-page/events.ts'
import { startDevPage, type DevPageOptions } from './dev-page/server.ts'

export interface DeveloperTools {
  /** The variables with which the notification service sends its pushes to the developer page. */
  pushEnvironment: NodeJS.ProcessEnv
  stop: () => Promise<void>
}

interface Options extends DevPageOptions {
  natsUrl: string
  sendsRealPushes: boolean
}

/** The developer page and what it shows: every event, and the pushes, which a stand-in for the provider accepts. */
export async function startDeveloperTools ({ natsUrl, sendsRealPushes, ...options }: Options): Promise<DeveloperTools> {
  const { feed, stop } = await startDevPage(options)
  const stopEvents = await watchEvents(natsUrl, feed)
  const provider = sendsRealPushes ? undefined : await startFakeFcm()
  provider?.onSend((push) => {
    feed.add('pushes', push)
    // The page keeps what it shows.
    provider.seen.length = 0
  })
  return {
    pushEnvironment: provider ? { FCM_SERVICE_ACCOUNT_FILE: provider.file, FCM_BASE_URL: provider.url } : {},
    async stop () {
      await Promise.all([stop(), stopEvents(), provider?.close()])
    }
  }
}
