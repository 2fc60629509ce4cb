import type { Client } from './generated/client/index.ts'
import { toTandemError } from './errors.ts'
import type { ListMatchesResponse, ListNotificationsResponse, SyncDashboardResponse } from './generated/types.gen.ts'

/** What has changed since a cursor. A part that has not changed is undefined. */
export interface Changes {
  home: SyncDashboardResponse['data']['home'] | undefined
  /** Logs and tombstones of deleted ones, at most 500: if it is not empty, there can be more. */
  logs: SyncDashboardResponse['data']['changes']
  chats: ListMatchesResponse['data'] | undefined
  /** The newest thirty. */
  notifications: ListNotificationsResponse['data'] | undefined
  /** For the next call. */
  cursor: string
}

interface Cursor {
  own?: string
  chats?: string | undefined
  notifications?: string | undefined
}

const security = [{ scheme: 'bearer', type: 'http' }] as const

/** Three requests, whatever has changed. */
export async function sync (client: Client, cursor: string | undefined): Promise<Changes> {
  const known = cursor === undefined ? {} : JSON.parse(cursor) as Cursor
  const [own, chats, notifications] = await Promise.all([
    read<SyncDashboardResponse>(client, '/dashboard/sync', { query: { cursor: known.own } }),
    read<ListMatchesResponse>(client, '/fitmatch/matches', { etag: known.chats }),
    read<ListNotificationsResponse>(client, '/notifications', { etag: known.notifications, query: { limit: 30 } })
  ])
  const next: Cursor = { chats: chats.etag, notifications: notifications.etag }
  if (own.body) next.own = own.body.data.cursor
  return {
    home: own.body?.data.home ?? undefined,
    logs: own.body?.data.changes ?? [],
    chats: chats.body?.data,
    notifications: notifications.body?.data,
    cursor: JSON.stringify(next)
  }
}

interface ReadOptions {
  /** Of the response that is known: the same one is not sent again. */
  etag?: string | undefined
  query?: Record<string, unknown>
}

async function read<Body> (client: Client, url: string, { etag, query = {} }: ReadOptions) {
  const { data, error, response } = await client.get<Body, unknown, false, 'fields'>({
    url,
    query,
    security: [...security],
    headers: etag === undefined ? {} : { 'if-none-match': etag },
    responseStyle: 'fields',
    throwOnError: false
  })
  const isUnchanged = response?.status === 304
  // Somebody without a FitMatch profile has no chats.
  if (response?.status === 404) return {}
  if (error !== undefined && !isUnchanged) throw toTandemError(error, response)
  return { body: isUnchanged ? undefined : data as Body, etag: response?.headers.get('etag') ?? etag }
}
