import { useInfiniteQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { cursorOf, pageByPage } from './pages.ts'
import { useConnected, useOutbox } from './provider.ts'

/** Notifications, newest first, page by page, and how many are unread. */
export function useNotifications () {
  const { tandem, connection } = useConnected()
  const outbox = useOutbox()
  const query = useInfiniteQuery({
    queryKey: keys.notifications,
    enabled: connection !== undefined,
    queryFn: async ({ pageParam, signal }) => {
      await connection?.ready
      return (await tandem.listNotifications({ query: { limit: 30, ...cursorOf(pageParam) }, signal })).data
    },
    ...pageByPage
  })
  return {
    notifications: query.data?.pages.flatMap(({ notifications }) => notifications),
    unreadCount: query.data?.pages[0]?.unreadCount,
    query,
    /** Marks one as read. */
    read: async (id: string) => await outbox().add('markNotificationsRead', { body: { ids: [id] } }),
    readAll: async () => await outbox().add('markNotificationsRead', { body: {} })
  }
}
