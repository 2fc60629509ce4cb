import type { ChatMessage, Comment, Notification, Post } from '@tandem/sdk'
import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query'
import { keys } from './keys.ts'
import type { ChatPage, CommentPage, FeedPage, NotificationPage } from './pages.ts'

/** Reads again what is shown. A first response that is on its way can be older than the reason. */
export function refresh (client: QueryClient, ...all: QueryKey[]) {
  for (const queryKey of all) {
    void client.resetQueries({ queryKey, predicate: ({ state }) => state.status === 'pending' })
    void client.invalidateQueries({ queryKey })
  }
}

/** Changes what is known, and what a request that is on its way brings: it can be older. Twice must be as once. */
function change<Data> (client: QueryClient, queryKey: QueryKey, edit: (data: Data) => Data) {
  const apply = () => void client.setQueriesData<Data>({ queryKey }, (data) => data && edit(data))
  apply()
  for (const query of client.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })) {
    query.fetch().then(apply, () => {})
  }
}

const mapPages = <Page>(data: InfiniteData<Page>, edit: (page: Page, index: number) => Page) => ({
  ...data,
  pages: data.pages.map(edit)
})

/** A message arrives twice: as the response of its request and as a frame. */
export const addMessage = (client: QueryClient, message: ChatMessage) =>
  changeMessages(client, message.matchId, (messages, isNewest) => {
    const others = messages.filter(({ id }) => id !== message.id)
    return isNewest ? [...others, message].sort(byTime) : others
  })

export const changeMessages = (
  client: QueryClient,
  matchId: string,
  edit: (messages: ChatMessage[], isNewest: boolean) => ChatMessage[]
) =>
  change<InfiniteData<ChatPage>>(
    client,
    keys.chat(matchId),
    (data) => mapPages(data, (page, index) => ({ ...page, messages: edit(page.messages, index === 0) }))
  )

const byTime = (one: ChatMessage, other: ChatMessage) => one.createdAt < other.createdAt ? -1 : 1

/** Shows one's own comment at the end of what is read, however many pages there are before its own. */
export const addComment = (client: QueryClient, comment: Comment) =>
  change<InfiniteData<CommentPage>>(client, keys.comments(comment.postId), (data) =>
    mapPages(data, (page, index) => {
      const others = page.comments.filter(({ id }) => id !== comment.id)
      return { ...page, comments: index === data.pages.length - 1 ? [...others, comment] : others }
    }))

/** Frames do not list the types of notifications. */
type NewNotification = Omit<Notification, 'type'> & { type: string }

/** Shows a notification on the page to which it belongs, in place of an earlier version. Ids rise with time. */
export function addNotification (client: QueryClient, added: NewNotification, unreadCount: number) {
  const notification = added as Notification
  change<InfiniteData<NotificationPage>>(client, keys.notifications, (data) => {
    const isNewer = ({ id }: Notification) => id > notification.id
    const at = data.pages.findIndex(({ notifications, nextCursor }) =>
      nextCursor === null || !notifications.every(isNewer)
    )
    return mapPages(data, (page, index) => {
      const others = page.notifications.filter(({ id }) => id !== notification.id)
      const older = others.filter((each) => !isNewer(each))
      const notifications = index === at ? [...others.filter(isNewer), notification, ...older] : others
      return { ...page, notifications, unreadCount }
    })
  })
}

/** Marks notifications as read, and takes others away. */
export const changeNotifications = (
  client: QueryClient,
  { readIds, removedIds, readAt, unreadCount }: {
    readIds: string[],
    removedIds: string[],
    readAt: string,
    unreadCount: number
  }
) =>
  change<InfiniteData<NotificationPage>>(client, keys.notifications, (data) =>
    mapPages(data, (page) => ({
      ...page,
      unreadCount,
      notifications: page.notifications.filter(({ id }) => !removedIds.includes(id))
        .map((each) => readIds.includes(each.id) ? { ...each, readAt: each.readAt ?? readAt } : each)
    })))

/** Changes a post wherever it is shown. */
export function changePost (client: QueryClient, postId: string, edit: (post: Post) => Post) {
  changePostInFeeds(client, postId, edit)
  change<Post>(client, keys.post(postId), edit)
}

export const changePostInFeeds = (client: QueryClient, postId: string, edit: (post: Post) => Post) =>
  change<InfiniteData<FeedPage>>(
    client,
    keys.feeds,
    (data) =>
      mapPages(data, (page) => ({ ...page, posts: page.posts.map((post) => post.id === postId ? edit(post) : post) }))
  )

/** A post as it is when the reader likes it, or does not. */
export const withLike = (post: Post, isLiked: boolean): Post =>
  post.isLiked === isLiked ? post : { ...post, isLiked, likesCount: post.likesCount + (isLiked ? 1 : -1) }
