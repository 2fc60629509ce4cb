import { randomUUID } from 'node:crypto'
import t from 'tap'
import { PersonHidden } from '@tandem/contracts'
import type { FeedPage } from '@tandem/contracts/realtime'
import { bearer } from '@tandem/http-kit/testing'
import { testApp } from '../test/app.ts'
import { addToDigest } from '../likes/actions.ts'

const { reset } = await testApp(t)
let changes = 0

const hiding = ({ receive }: ReturnType<typeof reset>) => async (accountId: string, hidden: boolean) =>
  await receive(PersonHidden.type, { accountId, hidden }, { at: new Date(Date.now() + changes++) })
const followed = (followerId: string, followedId: string) => ({ followerId, followedId })

t.test('nobody is notified of a hidden person, in the inbox, by push or in a realtime frame', async (t) => {
  const app = reset()
  const { app: server, receive, inbox, person, device, deliverAll, provider } = app
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  const readFrames = async (after?: string) => {
    const token = bearer(ana).authorization.slice('Bearer '.length)
    const payload = { items: [{ token, ...after !== undefined && { after } }] }
    const response = await server.inject({ method: 'POST', url: '/internal/realtime', payload })
    return response.json<{ items: Exclude<FeedPage, { code: string }>[] }>().items[0]!
  }
  const { position } = await readFrames()
  await receive('social.person.followed.v1', followed(ben, ana))
  t.match(await inbox(ana), { notifications: [{ actor: { id: ben } }], unreadCount: 1 })
  t.equal((await readFrames(position)).frames.length, 1)
  const before = JSON.stringify(await inbox(ana))

  await hiding(app)(ben, true)
  t.match(await inbox(ana), { notifications: { length: 0 } }, 'what was there is not shown')
  t.same((await inbox(ana)).notifications, [])
  t.same((await readFrames(position)).frames, [])
  await deliverAll()
  t.same(provider.sent, [], 'a push that was waiting is not sent')
  t.match(await app.log(ana), [{ status: 'muted', reason: 'one of the two people is hidden' }])
  await receive('social.story.reacted.v1', { storyId: randomUUID(), authorId: ana, reactedBy: ben, emoji: '🔥' })
  t.same((await inbox(ana)).notifications, [], 'nothing new is created')

  await hiding(app)(ben, false)
  t.equal(JSON.stringify(await inbox(ana)), before, 'back, everything is as it was')
})

t.test('a hidden person is notified of nothing but their own account', async (t) => {
  const app = reset()
  const { receive, inbox, person, device, deliverAll, provider } = app
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  await hiding(app)(ana, true)
  await receive('social.person.followed.v1', followed(ben, ana))
  await receive('identity.session.started.v1', {
    accountId: ana,
    sessionId: randomUUID(),
    method: 'PASSWORD',
    newDevice: true,
    deviceName: 'Pixel',
    platform: 'android'
  })
  await deliverAll()
  t.match(provider.sent, [{ data: { type: 'ACCOUNT' } }])
  t.equal(provider.sent.length, 1)
  await hiding(app)(ana, false)
  t.match(await inbox(ana), { notifications: [{ type: 'ACCOUNT' }], unreadCount: 1 })
})

t.test('a hidden person is notified of changes to their own account, and can test their devices', async (t) => {
  const app = reset()
  const { send, inbox, person, device, neighbours, deliverAll, provider } = app
  const ana = await person('Ana')
  neighbours.contacts.set(ana, { email: `${ana}@example.com`, name: 'Ana', locale: 'en' })
  await device(ana)
  await hiding(app)(ana, true)
  await send(ana, 'PUT', '/notifications/trusted-contact', { name: 'Mum', email: `mum-${ana}@example.com` })
  t.match(await send(ana, 'POST', '/notifications/push/test'), { data: { devices: 1 } })
  await deliverAll()
  t.match(provider.sent, [{ title: 'Your trusted contact was changed' }, { title: 'It works' }])
  await hiding(app)(ana, false)
  t.match(await inbox(ana), { notifications: [{ title: 'Your trusted contact was changed' }], unreadCount: 1 })
})

t.test('a hidden person is notified of what they booked', async (t) => {
  const app = reset()
  const { receive, inbox, person, device, deliverAll, provider } = app
  const ana = await person('Ana')
  await device(ana)
  await hiding(app)(ana, true)
  const booking = {
    accountId: ana,
    reservationId: randomUUID(),
    title: 'Badminton',
    startsAt: '2099-11-21T08:00:00.000Z'
  }
  await receive('booking.reservation.confirmed.v1', booking)
  await receive('booking.reservation.reminded.v1', booking)
  await deliverAll()
  t.match(provider.sent, [{ title: 'Booking confirmed' }, { title: 'Booking reminder' }])
  await hiding(app)(ana, false)
  t.match(await inbox(ana), { notifications: { length: 2 } })
})

t.test('a digest of likes names and counts the likers who are not hidden', async (t) => {
  const app = reset()
  const { deps, inbox, person, device, deliverAll, provider } = app
  const [author, ana, ben, cem] = [
    await person('Author'),
    await person('Ana'),
    await person('Ben'),
    await person('Cem')
  ]
  await device(author)
  const postId = randomUUID()
  for (const [number, likedBy] of [ana, ben, cem].entries()) {
    const at = new Date(Date.now() + number)
    const like = { eventId: randomUUID(), sequence: number, postId, authorId: author, likedBy, excerpt: null }
    await addToDigest(deps, like, at)
  }
  const bodies = async () => (await inbox(author)).notifications.map(({ body }: { body: string }) => body)
  t.same(await bodies(), ['Cem and 2 others like your post'])
  await hiding(app)(cem, true)
  t.same(await bodies(), ['Ben and 1 other like your post'])
  await deliverAll()
  t.match(provider.sent, [{ body: 'Ben and 1 other like your post' }])
  t.match(await app.log(author), [{ body: 'Ben and 1 other like your post' }])
  await hiding(app)(ana, true)
  t.same(await bodies(), ['Ben likes your post'])
  await hiding(app)(ben, true)
  t.same(await bodies(), [])
  t.notMatch((await app.log(author))[0].body, /other/)
  for (const liker of [ana, ben, cem]) await hiding(app)(liker, false)
  t.same(await bodies(), ['Cem and 2 others like your post'])
})
