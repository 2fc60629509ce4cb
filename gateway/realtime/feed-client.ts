import { createBatcher } from '@tandem/process-kit'
import type { FeedPage, FeedRequest } from '@tandem/contracts/realtime'
import type { JsonClient } from '../identity/json-client.ts'

const TIMEOUT_MS = 2_500

/** Reads frames from the notification service. Requests of many connections go into one. */
export function createFeedClient (notificationUrl: string, { post }: Pick<JsonClient, 'post'>) {
  const url = new URL('/internal/realtime', notificationUrl).href
  return createBatcher(async (requests: FeedRequest[]) => {
    const { items } = await post(url, { items: requests }, TIMEOUT_MS) as { items: FeedPage[] }
    return items
  })
}
