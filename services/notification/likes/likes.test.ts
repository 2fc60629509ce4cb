import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { inLanes, testApp, type TestApp } from '../test/app.ts'
import { forgetLike, addToDigest } from './actions.ts'

const { fresh } = await testApp(t)

async function world () {
  const app = fresh()
  const author = await app.person('Author')
  const people = await Promise.all(['Ana', 'Ben', 'Cem', 'Dewi', 'Eka'].map((name) => app.person(name)))
  const postId = randomUUID()
  let clock = Date.now()
  return {
    ...app,
    author,
    people,
    like: async (likedBy: string, at = new Date(clock++), sequence = at.getTime()) =>
      await addToDigest(app.deps, { eventId: randomUUID(), sequence, postId, authorId: author, likedBy, excerpt: null }, at),
    unlike: async (unlikedBy: string, at = new Date(clock++), sequence = at.getTime()) => await forgetLike(app.deps, { sequence, postId, authorId: author, unlikedBy }, at)
  }
}

const bodies = async ({ inbox, author }: { inbox: TestApp['inbox'], author: string }) => (await inbox(author)).notifications.map(({ body }: { body: string }) => body)
const minuteLater = async (db: TestApp['db']) => await sql`update like_gatherings set ends_at = now()`.execute(db)

t.test('the likes of a minute become one notice, pushed once at its end', async (t) => {
  const app = await world()
  await app.device(app.author)
  for (const person of app.people) await app.like(person)
  t.strictSame(await bodies(app), ['Eka and 4 others like your post'])
  t.equal((await app.inbox(app.author)).unreadCount, 1)
  const [held] = await app.log(app.author)
  t.match(held, { status: 'held', reason: 'more may join it' })
  t.ok(Math.abs(Date.parse(held.dueAt) - Date.now() - 60_000) < 5_000)

  await app.deliverAll()
  t.match(app.provider.sent, [{ title: 'New likes', body: 'Eka and 4 others like your post' }])
})

t.test('a like of the next minute begins another', async (t) => {
  const app = await world()
  const [ana, ben, cem] = app.people as [string, string, string]
  await app.like(ana)
  await app.like(ben)
  t.strictSame(await bodies(app), ['Ben and 1 other like your post'])
  await minuteLater(app.db)
  await app.like(cem)
  t.strictSame(await bodies(app), ['Cem likes your post', 'Ben and 1 other like your post'])
})

t.test('fifty likes at once are one notice that counts them all', async (t) => {
  const app = await world()
  const many = await Promise.all(Array.from({ length: 50 }, (_, number) => app.person(`P${number}`)))
  const at = new Date()
  await inLanes([...many, ...many].map((person) => () => app.like(person, at)))
  t.match(await bodies(app), [/and 49 others like your post/])
  t.equal((await app.inbox(app.author)).unreadCount, 1)
})

t.test('a like that is taken back before it was told is not told', async (t) => {
  const app = await world()
  await app.device(app.author)
  const [ana, ben] = app.people as [string, string]
  await app.like(ana)
  await app.like(ben)
  await app.unlike(ben)
  t.strictSame(await bodies(app), ['Ana likes your post'])
  await app.unlike(ana)
  await app.unlike(ana)
  t.match(await app.inbox(app.author), { notifications: [], unreadCount: 0 })
  await app.deliverAll()
  t.strictSame(app.provider.sent, [])

  await app.like(ana)
  t.strictSame(await bodies(app), ['Ana likes your post'], 'she may think better of it')
})

t.test('one that was told stays told, and is not told twice', async (t) => {
  const app = await world()
  await app.device(app.author)
  const [ana] = app.people as [string]
  await app.like(ana)
  await app.deliverAll()
  await minuteLater(app.db)
  await app.unlike(ana)
  t.strictSame(await bodies(app), ['Ana likes your post'])
  await app.like(ana)
  t.strictSame(await bodies(app), ['Ana likes your post'])
  t.equal((await app.log(app.author)).length, 1)
})

t.test('what is heard twice or in the wrong order comes to the same', async (t) => {
  const app = await world()
  const [ana, ben] = app.people as [string, string]
  const [first, second] = [new Date(Date.now() - 2_000), new Date(Date.now() - 1_000)]
  await app.unlike(ana, second)
  await app.like(ana, first)
  t.strictSame(await bodies(app), [])
  await app.like(ben, first)
  await minuteLater(app.db)
  await app.like(ben, first)
  t.strictSame(await bodies(app), ['Ben likes your post'])
})

t.test('a like and its end within one millisecond come to the end, whichever is heard first', async (t) => {
  const app = await world()
  const [ana, ben] = app.people as [string, string]
  const moment = new Date()
  await app.like(ana, moment, 1)
  await app.unlike(ana, moment, 2)
  await app.unlike(ben, moment, 4)
  await app.like(ben, moment, 3)
  t.strictSame(await bodies(app), [])
  await app.like(ben, moment, 5)
  t.strictSame(await bodies(app), ['Ben likes your post'])
})

t.test('likes that join what was read already make it unread again; what was deleted stays so', async (t) => {
  const app = await world()
  const [ana, ben, cem] = app.people as [string, string, string]
  await app.like(ana)
  await app.send(app.author, 'POST', '/notifications/read')
  await app.like(ben)
  t.equal((await app.inbox(app.author)).unreadCount, 1)
  const [{ id }] = (await app.inbox(app.author)).notifications
  await app.send(app.author, 'DELETE', `/notifications/${id}`)
  await app.like(cem)
  t.strictSame(await bodies(app), ['Cem likes your post'])
  t.equal((await app.inbox(app.author)).unreadCount, 1)
})

t.test('whoever is blocked is counted out of what others did too', async (t) => {
  const app = await world()
  const [ana, ben] = app.people as [string, string]
  await app.like(ana)
  await app.like(ben)
  await app.say('fitmatch.person.blocked.v1', { blockerId: ben, blockedId: app.author })
  t.strictSame(await bodies(app), ['Ana likes your post'])
  await app.like(ben)
  t.strictSame(await bodies(app), ['Ana likes your post'])
  await app.say('fitmatch.person.blocked.v1', { blockerId: app.author, blockedId: ana })
  t.match(await app.inbox(app.author), { notifications: [], unreadCount: 0 })
})

t.test('the words of a post are told only when everybody may read them', async (t) => {
  const { say, inbox, person } = fresh()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const like = { postId: randomUUID(), authorId: ana, likedBy: ben }
  await say('social.post.liked.v1', { ...like, excerpt: 'Morning {run} <b>with</b> # friends' })
  t.match((await inbox(ana)).notifications, [{ body: 'Ben likes your post: “Morning {run} <b>with</b> # friends”' }])
  await say('social.post.liked.v1', { ...like, postId: randomUUID(), excerpt: null })
  t.match((await inbox(ana)).notifications, [{ body: 'Ben likes your post' }, {}])
})
