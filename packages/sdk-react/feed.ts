import type { ListFeedData, Post } from '@tandem/sdk'
import { useInfiniteQuery, useQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query'
import { changePostInFeeds, withLike } from './cache.ts'
import { keys } from './keys.ts'
import { cursorOf, pageByPage, type FeedPage } from './pages.ts'
import { useOutbox, useTandem } from './provider.ts'
import { useWaiting, useWaitingTexts } from './waiting.ts'

export type FeedFilter = Omit<NonNullable<ListFeedData['query']>, 'cursor'>

/** Posts, newest first, page by page: `query.fetchNextPage()` loads more. */
export function useFeed (filter: FeedFilter = {}) {
  const tandem = useTandem()
  const withWaitingLike = useWaitingLikes()
  const query = useInfiniteQuery({
    queryKey: keys.feed(filter),
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: 10, ...filter, ...cursorOf(pageParam) }
      return (await tandem.listFeed({ query, signal })).data
    },
    ...pageByPage
  })
  return { posts: query.data?.pages.flatMap(({ posts }) => posts.map(withWaitingLike)), query }
}

/** One post, shown at once if a feed has it. */
export function usePost (id: string) {
  const tandem = useTandem()
  const client = useQueryClient()
  return useQuery({
    queryKey: keys.post(id),
    queryFn: async ({ signal }) => {
      const { post } = (await tandem.getPost({ path: { id }, signal })).data
      changePostInFeeds(client, id, () => post)
      return post
    },
    placeholderData: () =>
      client.getQueriesData<InfiniteData<FeedPage>>({ queryKey: keys.feeds })
        .flatMap(([, data]) => data?.pages ?? []).flatMap(({ posts }) => posts).find((post) => post.id === id),
    select: useWaitingLikes()
  })
}

/** Likes a post, or takes the like back: shown at once, sent when the server can be reached. */
export function useLike () {
  const outbox = useOutbox()
  return async ({ id, isLiked }: Post) => {
    await outbox().add(isLiked ? 'unlikePost' : 'likePost', { path: { id } }, likeThread(id))
  }
}

/** Shows the last like that waits as if it had been sent. */
function useWaitingLikes () {
  const waiting = useWaiting()
  return (post: Post) => {
    const last = waiting.filter(({ thread }) => thread === likeThread(post.id)).at(-1)
    return last ? withLike(post, last.operation === 'likePost') : post
  }
}

const likeThread = (postId: string) => `like/${postId}`
const commentThread = (postId: string) => `comments/${postId}`

/** The comments of a post, page by page, and `add`, which sends one when the server can be reached. */
export function useComments (postId: string) {
  const tandem = useTandem()
  const outbox = useOutbox()
  const query = useInfiniteQuery({
    queryKey: keys.comments(postId),
    queryFn: async ({ pageParam, signal }) =>
      (await tandem.listComments({ path: { id: postId }, query: cursorOf(pageParam), signal })).data,
    ...pageByPage
  })
  const comments = query.data?.pages.flatMap((page) => page.comments)
  return {
    // One's own new comment is shown before its page is read.
    comments: comments && [...new Map(comments.map((each) => [each.id, each])).values()],
    query,
    /** Texts that are not sent yet, in their order. */
    waiting: useWaitingTexts('createComment', commentThread(postId)),
    add: async (content: string) =>
      await outbox().add('createComment', { path: { id: postId }, body: { content } }, commentThread(postId))
  }
}
