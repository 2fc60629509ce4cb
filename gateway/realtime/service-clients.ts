import { errors } from 'undici'
import { createBatcher } from '@tandem/process-kit'
import type { FeedPage, FeedRequest, PresenceAnswer, PresenceRequest } from '@tandem/contracts/realtime'
import { UnexpectedStatus, type JsonClient } from '../identity/json-client.ts'

const TIMEOUT_MS = 2_500

/** What realtime connections read of services. Requests of many connections go into one. */
export interface ServiceClients {
  /** Reads frames from the notification service. */
  readFeed: (request: FeedRequest) => Promise<FeedPage>
  /** Reads presence from fitmatch. */
  readPresence: (request: PresenceRequest) => Promise<PresenceAnswer>
}

interface Addresses {
  notification: string
  fitmatch: string
}

// The data of one connection may be at fault, which must not fail the others.
const isItemError = (error: unknown) =>
  error instanceof UnexpectedStatus ? error.status !== 503 : error instanceof errors.ResponseExceededMaxSizeError

export function createServiceClients (addresses: Addresses, { post }: Pick<JsonClient, 'post'>): ServiceClients {
  const read = (service: keyof Addresses) => {
    const url = new URL('/internal/realtime', addresses[service]).href
    return async (requests: object[]) => {
      const { items } = await post(url, { items: requests }, TIMEOUT_MS) as { items: unknown[] }
      return items
    }
  }
  return {
    // One signal wakes the connections of both people of a chat.
    readFeed: createBatcher(
      async (requests: FeedRequest[]) => await read('notification')(requests) as FeedPage[],
      { waitsForTurn: true, isItemError }
    ),
    readPresence: createBatcher(
      async (requests: PresenceRequest[]) => await read('fitmatch')(requests) as PresenceAnswer[],
      { isItemError }
    )
  }
}
