import type { ListFeedData, ListFeedResponse, Post } from '@tandem/sdk'
import { useInfiniteQuery, useQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { cursorOf, pageByPage } from './pages.ts'
import { useOutbox, useTandem } from './provider.ts'

export type FeedFilter = Omit<NonNullable<ListFeedData['query']>, 'cursor'>

type FeedPage = ListFeedResponse['data']

/** Posts, newest first, page by page: `query.fetchNextPage()` loads more. */
export function useFeed (filter: FeedFilter = {}) {
  const tandem = useTandem()
  const query = useInfiniteQuery({
    queryKey: keys.feed(filter),
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: 10, ...filter, ...cursorOf(pageParam) }
      return (await tandem.listFeed({ query, signal })).data
    },
    ...pageByPage
  })
  return { posts: query.data?.pages.flatMap(({ posts }) => posts), query }
}

/** One post, shown at once if a feed has it. */
export function usePost (id: string) {
  const tandem = useTandem()
  const client = useQueryClient()
  return useQuery({
    queryKey: keys.post(id),
    queryFn: async ({ signal }) => (await tandem.getPost({ path: { id }, signal })).data.post,
    placeholderData: () =>
      client.getQueriesData<InfiniteData<FeedPage>>({ queryKey: keys.feeds })
        .flatMap(([, data]) => data?.pages ?? []).flatMap(({ posts }) => posts).find((post) => post.id === id)
  })
}

/** Likes a post, or takes the like back: shown at once, sent when the server can be reached. */
export function useLike () {
  const client = useQueryClient()
  const outbox = useOutbox()
  return async (post: Post) => {
    const isLiked = !post.isLiked
    const changed = { ...post, isLiked, likesCount: post.likesCount + (isLiked ? 1 : -1) }
    client.setQueriesData<InfiniteData<FeedPage>>({ queryKey: keys.feeds }, (data) =>
      data && {
        ...data,
        pages: data.pages.map((page) => ({
          ...page,
          posts: page.posts.map((each) => each.id === post.id ? changed : each)
        }))
      })
    client.setQueryData<Post>(keys.post(post.id), (known) => known && changed)
    await outbox().add(isLiked ? 'likePost' : 'unlikePost', { path: { id: post.id } }, `like/${post.id}`)
  }
}

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
  const add = async (content: string) =>
    await outbox().add('createComment', { path: { id: postId }, body: { content } }, `comments/${postId}`)
  return { comments: query.data?.pages.flatMap(({ comments }) => comments), query, add }
}
