import { call } from '../kit/call.ts'
import { becomeMember, type Member } from '../kit/people.ts'
import type { Stack } from '../kit/stack.ts'

interface NotificationPage {
  data: { notifications: { data: { postId?: string } }[], nextCursor: string | null }
}

export type Mentions = Awaited<ReturnType<typeof prepareMentions>>

/** Ana writes posts that mention Ben. Each must create exactly one notification for Ben. */
export async function prepareMentions (stack: Stack) {
  const ana = await becomeMember(stack, 'ana@example.com')
  const ben = await becomeMember(stack, 'ben@example.com')
  const { user } = await call<{ user: { id: string, profile: { username: string } } }>(stack, 'GET', '/auth/me', {
    token: ben.accessToken
  })
  const mentionedPosts: string[] = []
  return {
    readerId: user.id,
    async write (stack: Stack, times: number) {
      for (let time = 0; time < times; time++) {
        const { data: { post } } = await call<{ data: { post: { id: string } } }>(stack, 'POST', '/feed', {
          token: ana.accessToken,
          body: { type: 'TEXT', content: `${time}: running with @${user.profile.username}` }
        })
        mentionedPosts.push(post.id)
      }
    },
    /** The posts with a mention, and the posts of Ben's notifications; both sorted. */
    async read (stack: Stack) {
      return { mentioned: mentionedPosts.toSorted(), notified: (await readNotifiedPosts(stack, ben)).toSorted() }
    }
  }
}

async function readNotifiedPosts (stack: Stack, { accessToken }: Member) {
  const posts: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { data }: NotificationPage = await call(
      stack,
      'GET',
      `/notifications?limit=50${cursor && `&cursor=${cursor}`}`,
      {
        token: accessToken
      }
    )
    posts.push(...data.notifications.flatMap(({ data: { postId } }) => postId ?? []))
    cursor = data.nextCursor
  }
  return posts
}
