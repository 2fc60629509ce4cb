import type { GetChatResponse, ListCommentsResponse, ListFeedResponse, ListNotificationsResponse } from '@tandem/sdk'

/** The newest messages, or a page of older ones. */
export type ChatPage = Pick<GetChatResponse['data'], 'messages' | 'nextCursor'>
export type CommentPage = ListCommentsResponse['data']
export type FeedPage = ListFeedResponse['data']
export type NotificationPage = ListNotificationsResponse['data']

/** What a query of a list needs to read it page by page. */
export const pageByPage = {
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor
}

/** The parameter of a request. The first page has none. */
export const cursorOf = (pageParam: string) => pageParam === '' ? {} : { cursor: pageParam }
