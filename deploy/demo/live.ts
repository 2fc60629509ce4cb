import { setTimeout as sleep } from 'node:timers/promises'
import { screen } from '@tandem/local-servers/screen.ts'
import type { Member } from './member.ts'
import { createPost, createStory, describePost } from './posts.ts'
import { createRandom, type Random } from './random.ts'
import { chatReplies, comments } from './texts.ts'

const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 4_000

interface FeedPost {
  id: string
  userId: string
  isLiked: boolean
}

/** Lets one person after the other do something, until the signal. They answer messages and swipe back. */
export async function keepActive (members: Member[], signal: AbortSignal) {
  const random = createRandom(String(Date.now()))
  // The first two are for the developer.
  const others = members.slice(2)
  screen.line('  People are active: they post, like, comment, answer messages and swipe.')
  while (!signal.aborted) {
    const member = random.pick(others)
    try {
      await random.pick(actions)(member, random)
    } catch (error) {
      if (!signal.aborted) screen.warn(`${member.person.name} failed: ${(error as Error).message}`)
    }
    await sleep(random.integer(MIN_PAUSE_MS, MAX_PAUSE_MS), undefined, { signal }).catch(() => {})
  }
}

type Action = (member: Member, random: Random) => Promise<unknown>

const likeNewest: Action = async (member, random) => {
  const post = random.pick((await newestPosts(member)).filter(({ isLiked }) => !isLiked))
  if (post) await member.send('POST', `/feed/${post.id}/like`)
}

const commentNewest: Action = async (member, random) => {
  const accountId = await member.accountId()
  const post = random.pick((await newestPosts(member)).filter(({ userId }) => userId !== accountId))
  if (post) await member.send('POST', `/feed/${post.id}/comment`, { content: random.pick(comments) })
}

async function newestPosts ({ send }: Member) {
  return (await send<{ data: { posts: FeedPost[] } }>('GET', '/feed?limit=5')).data.posts
}

const answerMessages: Action = async ({ send }, random) => {
  type Conversations = { data: { conversations: { matchId: string, unreadCount: number }[] } }
  const { data } = await send<Conversations>('GET', '/fitmatch/matches?type=conversations')
  for (const { matchId } of data.conversations.filter(({ unreadCount }) => unreadCount > 0)) {
    await send('POST', `/fitmatch/chat/${matchId}/read`)
    await send('POST', `/fitmatch/chat/${matchId}/typing`, { isTyping: true })
    await sleep(1_500)
    await send('POST', `/fitmatch/chat/${matchId}/messages`, { content: random.pick(chatReplies) })
  }
}

const swipe: Action = async ({ send }) => {
  type Discover = { data: { profiles: { id: string }[], limits: { remaining: number } } }
  const { data: { profiles: [profile], limits } } = await send<Discover>('GET', '/fitmatch/discover?limit=1')
  if (!profile || limits.remaining === 0) return
  await send('POST', '/fitmatch/swipe', { targetProfileId: profile.id, swipeType: 'WORKOUT_BUDDY' })
}

const logWater: Action = async ({ send }, random) =>
  await send('POST', '/logs/batch', {
    items: [{
      clientId: `live-${Date.now()}`,
      type: 'WATER',
      at: new Date().toISOString(),
      data: { ml: random.integer(2, 5) * 100 }
    }]
  })

// What is listed more often happens more often.
const actions: Action[] = [
  likeNewest,
  likeNewest,
  likeNewest,
  likeNewest,
  commentNewest,
  commentNewest,
  answerMessages,
  answerMessages,
  answerMessages,
  answerMessages,
  swipe,
  logWater,
  async (member, random) => await createPost(describePost(random, member)),
  async (member, random) => await createStory(member, random)
]
