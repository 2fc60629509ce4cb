import { useQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { useConnected, useOutbox } from './provider.ts'

/** The newest notifications, and how many are unread. */
export function useNotifications () {
  const { tandem, connection } = useConnected()
  const outbox = useOutbox()
  const query = useQuery({
    queryKey: keys.notifications,
    enabled: connection !== undefined,
    queryFn: async ({ signal }) => {
      await connection?.ready
      return (await tandem.listNotifications({ query: { limit: 30 }, signal })).data
    }
  })
  return {
    notifications: query.data?.notifications,
    unreadCount: query.data?.unreadCount,
    query,
    readAll: async () => await outbox().add('markNotificationsRead', { body: {} })
  }
}
