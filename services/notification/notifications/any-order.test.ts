import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { runConcurrently, shuffle } from '@tandem/test-kit'
import { testApp, type TestApp } from '../test/app.ts'

const { reset } = await testApp(t)

interface Event {
  type: string
  data: object
  id: string
  at: Date
}

/** A pseudorandom generator: the same numbers between 0 and 1 for the same seed. */
function createRandom (seed: number) {
  return () => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32
    return seed / 2 ** 32
  }
}

/** Random events between people within a minute. Likes and follows toggle; the block comes last. */
function randomEvents (people: string[], random: () => number): Event[] {
  const any = <Item>(items: Item[]) => items[Math.floor(random() * items.length)]!
  const two = () => shuffle(people, random).slice(0, 2) as [string, string]
  const posts = people.slice(0, 4).map((authorId) => ({ authorId, postId: randomUUID() }))
  const matches = Array.from({ length: 3 }, () => ({ matchId: randomUUID(), accountIds: two() }))
  const active = new Set<string>()
  const toggle = (what: string) => active.delete(what) ? false : Boolean(active.add(what))
  const like = (): [string, object] => {
    const [post, person] = [any(posts), any(people)]
    return toggle(`${post.postId} ${person}`)
      ? ['social.post.liked.v1', { ...post, likedBy: person, excerpt: null }]
      : ['social.post.unliked.v1', { ...post, unlikedBy: person }]
  }
  const kinds: (() => [type: string, data: object])[] = [
    like,
    like,
    like,
    () => ['social.post.commented.v1', {
      ...any(posts),
      commentId: randomUUID(),
      commentedBy: any(people),
      excerpt: null
    }],
    () => ['social.people.mentioned.v1', {
      postId: any(posts).postId,
      commentId: null,
      authorId: people[0]!,
      mentioned: people.slice(1, 4),
      excerpt: null
    }],
    () => {
      const [followerId, followedId] = two()
      return [toggle(`${followerId} ${followedId}`) ? 'social.person.followed.v1' : 'social.person.unfollowed.v1', {
        followerId,
        followedId
      }]
    },
    () => ['fitmatch.match.made.v1', { ...any(matches), matchType: 'LIKE' }],
    () => {
      const { matchId, accountIds: [senderId, recipientId] } = any(matches)
      return ['fitmatch.message.sent.v1', { matchId, messageId: randomUUID(), senderId, recipientId, hasImage: false }]
    },
    () => ['dashboard.level.reached.v1', { accountId: any(people), level: 2 + Math.floor(random() * 5) }],
    () => ['fitmatch.badge.earned.v1', { accountId: any(people), badge: 'VETERAN' }]
  ]
  const [blockerId, blockedId] = two()
  const last: [string, object][] = [['fitmatch.match.ended.v1', matches[0]!], ['fitmatch.person.blocked.v1', {
    blockerId,
    blockedId
  }]]
  const startedAt = Date.now() - 60_000
  return [...Array.from({ length: 120 }, () => any(kinds)()), ...last].map(([type, data], number) => ({
    type,
    data,
    id: randomUUID(),
    at: new Date(startedAt + number * 100)
  }))
}

interface Notification {
  type: string
  title: string
  body: string
  data: object
  actor: object | null
}

/** All inboxes, sorted by content because ids depend on arrival order. Any of several likers can be named. */
async function readInboxes ({ inbox }: TestApp, people: string[]) {
  return await Promise.all(people.map(async (accountId) => {
    const { notifications, unreadCount } = await inbox(accountId, '?limit=50')
    const seen = (notifications as Notification[]).map(({ type, title, body, data, actor }) =>
      JSON.stringify(
        title === 'New likes' ? [type, body.replace(/^P\d/, 'Somebody'), data] : [type, title, body, data, actor]
      )
    )
    return { unreadCount, seen: seen.sort() }
  }))
}

async function deleteEverything ({ db }: TestApp) {
  await sql`truncate notifications, deliveries, post_likes, like_digests, withdrawals, blocks cascade`.execute(db)
}

t.test('events delivered three times in any order produce the same inboxes as once in order', async (t) => {
  for (let seed = 1; seed <= 8; seed++) {
    const app = reset()
    const people = await Promise.all(Array.from({ length: 8 }, (_, number) => app.person(`P${number}`)))
    const random = createRandom(seed)
    const events = randomEvents(people, random)
    await deleteEverything(app)
    for (const { type, data, id, at } of events) await app.receive(type, data, { id, at })
    const once = await readInboxes(app, people)
    t.ok(once.reduce((sum, { seen }) => sum + seen.length, 0) > 30)

    await deleteEverything(app)
    const repeated = shuffle([...events, ...events, ...events], random)
    await runConcurrently(
      repeated.map(({ type, data, id, at }) => async () => await app.receive(type, data, { id, at }))
    )
    t.strictSame(await readInboxes(app, people), once, `seed ${seed}`)
  }
})
