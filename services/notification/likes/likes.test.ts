import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { runConcurrently } from '@tandem/test-kit'
import { upsertBlock } from '../blocks/actions.ts'
import { lockInboxes } from '../notifications/removal.ts'
import { testApp, type TestApp } from '../test/app.ts'
import { removeFromDigest, addToDigest } from './actions.ts'

const { reset } = await testApp(t)

async function world () {
  const app = reset()
  const author = await app.person('Author')
  const people = await Promise.all(['Ana', 'Ben', 'Cem', 'Dewi', 'Eka'].map((name) => app.person(name)))
  const postId = randomUUID()
  let clock = Date.now()
  return {
    ...app,
    author,
    people,
    like: async (likedBy: string, at = new Date(clock++), sequence = at.getTime()) =>
      await addToDigest(
        app.deps,
        { eventId: randomUUID(), sequence, postId, authorId: author, likedBy, excerpt: null },
        at
      ),
    unlike: async (unlikedBy: string, at = new Date(clock++), sequence = at.getTime()) =>
      await removeFromDigest(app.deps, { sequence, postId, authorId: author, unlikedBy }, at)
  }
}

const bodies = async ({ inbox, author }: { inbox: TestApp['inbox'], author: string }) =>
  (await inbox(author)).notifications.map(({ body }: { body: string }) => body)
const endMinute = async (db: TestApp['db']) => await sql`update like_digests set ends_at = now()`.execute(db)

t.test('likes within a minute become one notification, pushed once when the minute ends', async (t) => {
  const app = await world()
  await app.device(app.author)
  for (const person of app.people) await app.like(person)
  t.strictSame(await bodies(app), ['Eka and 4 others like your post'])
  t.equal((await app.inbox(app.author)).unreadCount, 1)
  const [held] = await app.log(app.author)
  t.match(held, { status: 'held', reason: 'waiting for more likes' })
  t.ok(Math.abs(Date.parse(held.dueAt) - Date.now() - 60_000) < 30_000)

  await app.deliverAll()
  t.match(app.provider.sent, [{ title: 'New likes', body: 'Eka and 4 others like your post' }])
})

t.test('a like after the minute starts another notification', async (t) => {
  const app = await world()
  const [ana, ben, cem] = app.people as [string, string, string]
  await app.like(ana)
  await app.like(ben)
  t.strictSame(await bodies(app), ['Ben and 1 other like your post'])
  await endMinute(app.db)
  await app.like(cem)
  t.strictSame(await bodies(app), ['Cem likes your post', 'Ben and 1 other like your post'])
})

t.test('fifty concurrent likes become one notification that counts all of them', async (t) => {
  const app = await world()
  const many = await Promise.all(Array.from({ length: 50 }, (_, number) => app.person(`P${number}`)))
  const at = new Date()
  await runConcurrently([...many, ...many].map((person) => () => app.like(person, at)))
  t.match(await bodies(app), [/and 49 others like your post/])
  t.equal((await app.inbox(app.author)).unreadCount, 1)
})

t.test('a like that is taken back before it was read or pushed is not reported', async (t) => {
  const app = await world()
  await app.device(app.author)
  const [ana, ben] = app.people as [string, string]
  await app.like(ana)
  await app.like(ben)
  await app.unlike(ben)
  t.strictSame(await bodies(app), ['Ana likes your post'])
  await app.unlike(ana)
  await app.unlike(ana)
  t.match(await app.inbox(app.author), { notifications: { length: 0 }, unreadCount: 0 })
  await app.deliverAll()
  t.strictSame(app.provider.sent, [])

  await app.like(ana)
  t.strictSame(await bodies(app), ['Ana likes your post'], 'liking again is reported')
})

t.test('a like that was pushed leaves the inbox when it is taken back, and comes back without a push', async (t) => {
  const app = await world()
  await app.device(app.author)
  const [ana, ben] = app.people as [string, string]
  await app.like(ana)
  await app.like(ben)
  await app.deliverAll()
  await endMinute(app.db)
  await app.unlike(ben)
  t.strictSame(await bodies(app), ['Ana likes your post'])
  await app.unlike(ana)
  t.match(await app.inbox(app.author), { notifications: { length: 0 }, unreadCount: 0 })
  await app.like(ben)
  await app.like(ana)
  t.strictSame(await bodies(app), ['Ana and 1 other like your post'])
  t.equal((await app.inbox(app.author)).unreadCount, 1)
  await app.deliverAll()
  t.equal(app.provider.sent.filter(({ silent }) => !silent).length, 1)
})

t.test('repeated and out-of-order events have the same result', async (t) => {
  const app = await world()
  const [ana, ben] = app.people as [string, string]
  const [first, second] = [new Date(Date.now() - 2_000), new Date(Date.now() - 1_000)]
  await app.unlike(ana, second)
  await app.like(ana, first)
  t.strictSame(await bodies(app), [])
  await app.like(ben, first)
  await endMinute(app.db)
  await app.like(ben, first)
  t.strictSame(await bodies(app), ['Ben likes your post'])
})

t.test('of a like and an unlike in the same millisecond the later one wins, whichever arrives first', async (t) => {
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

t.test('a like that joins a read notification makes it unread; a deleted notification stays deleted', async (t) => {
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

t.test('a block removes a person from notifications about several people', async (t) => {
  const app = await world()
  const [ana, ben] = app.people as [string, string]
  await app.like(ana)
  await app.like(ben)
  await app.receive('fitmatch.person.blocked.v1', { blockerId: ben, blockedId: app.author })
  t.strictSame(await bodies(app), ['Ana likes your post'])
  await app.like(ben)
  t.strictSame(await bodies(app), ['Ana likes your post'])
  await app.receive('fitmatch.person.blocked.v1', { blockerId: app.author, blockedId: ana })
  t.match(await app.inbox(app.author), { notifications: { length: 0 }, unreadCount: 0 })
})

t.test('a notification quotes only posts that everyone can read', async (t) => {
  const { receive, inbox, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const like = { postId: randomUUID(), authorId: ana, likedBy: ben }
  await receive('social.post.liked.v1', { ...like, excerpt: 'Morning {run} <b>with</b> # friends' })
  t.match((await inbox(ana)).notifications, [{ body: 'Ben likes your post: “Morning {run} with # friends”' }])
  await receive('social.post.liked.v1', { ...like, postId: randomUUID(), excerpt: null })
  t.match((await inbox(ana)).notifications, [{ body: 'Ben likes your post' }, {}])
})

t.test('an unlike and a block at the same moment do not deadlock', async (t) => {
  const app = await world()
  const [ana] = app.people as [string]
  await app.like(ana)
  const block = { blockerId: app.author, blockedId: ana }
  let outcomes: Promise<unknown>[] = []
  await app.db.transaction().execute(async (trx) => {
    await lockInboxes(trx, [app.author])
    // Each long enough to wait for what is locked.
    outcomes = [upsertBlock(app.deps, block, { lifted: false, at: new Date(), sequence: 1 })]
    await sleep(200)
    outcomes.push(app.unlike(ana))
    await sleep(200)
  })
  t.match(await Promise.allSettled(outcomes), [{ status: 'fulfilled' }, { status: 'fulfilled' }])
  t.match(await app.inbox(app.author), { notifications: { length: 0 }, unreadCount: 0 })
})
