import t from 'tap'
import { deliver, recordedEvents } from '@tandem/bus-kit/testing'
import { FitMatchOverview, PersonHidden } from '@tandem/contracts'
import { realtimeOf } from '../test/realtime.ts'
import { testApp } from '../test/app.ts'

// Every path from one person to another, while one of them is hidden: a deletion, a pause or a ban.

const app = await testApp(t)
const { db, handlers, rpcHandlers, get, post, member, swipe, createMatch, subscribe } = app
const { describe, presenceOf } = realtimeOf(app)

const [zelda, ben, cat] = [await member('Zelda'), await member('Ben'), await member('Cat')]
const matchId = await createMatch(zelda, ben)
const { data: { message } } = await post(zelda.id, `/fitmatch/chat/${matchId}/messages`, { content: 'secret' })
await subscribe(cat.id)
await swipe(zelda, cat)

let changes = 0
const setHidden = async (hidden: boolean) =>
  await deliver(handlers, PersonHidden.type, { accountId: zelda.id, hidden }, { at: new Date(Date.now() + changes++) })
const shows = (response: object) => {
  const text = JSON.stringify(response)
  return text.includes(zelda.profileId) || text.includes('Zelda') || text.includes('secret')
}
const overviewOf = async (accountId: string) => {
  const handler = rpcHandlers.find(({ rpc }) => rpc === FitMatchOverview)!
  return await handler.handle({ accountId }) as object
}

const lists: [viewer: string, url: string][] = [
  [cat.id, '/fitmatch/discover'],
  [cat.id, '/fitmatch/likes'],
  [ben.id, '/fitmatch/matches']
]
const single: [viewer: string, url: string][] = [
  [cat.id, `/fitmatch/profile/${zelda.profileId}`],
  [ben.id, `/fitmatch/profile/${zelda.profileId}`],
  [ben.id, `/fitmatch/chat/${matchId}`],
  [ben.id, `/fitmatch/chat/${matchId}/messages`]
]
const writes: [viewer: string, url: string, body: object][] = [
  [ben.id, `/fitmatch/chat/${matchId}/messages`, { content: 'x' }],
  [ben.id, `/fitmatch/chat/${matchId}/read`, {}],
  [ben.id, `/fitmatch/chat/${matchId}/typing`, { isTyping: true }],
  [cat.id, '/fitmatch/swipe', { targetProfileId: zelda.profileId, swipeType: 'LIKE' }]
]
const readAll = async () =>
  await Promise.all([...lists, ...single].map(async ([viewer, url]) => {
    const { headers: _, ...body } = await get(viewer, url)
    return JSON.stringify(body)
  }))

t.test('nobody sees a hidden person anywhere, and everybody sees the same as before once they are back', async (t) => {
  // Reading a chat marks its messages as read.
  await readAll()
  const before = await readAll()
  for (const [viewer, url] of lists) t.ok(shows(await get(viewer, url)), `${url} shows the person`)
  for (const [viewer, url] of single) t.equal((await get(viewer, url)).status, 200, url)
  t.ok(shows(await overviewOf(ben.id)))

  await setHidden(true)
  for (const [viewer, url] of lists) {
    const response = await get(viewer, url)
    t.equal(response.status, 200, url)
    t.notOk(shows(response.data), `${url} does not show the person`)
  }
  for (const [viewer, url] of single) t.match(await get(viewer, url), { status: 404, code: 'NOT_FOUND' }, url)
  t.notOk(shows(await overviewOf(ben.id)), 'the home screen')

  await setHidden(false)
  t.same(await readAll(), before)
})

t.test('nobody can act on a hidden person, and no event is published', async (t) => {
  await setHidden(true)
  const before = (await recordedEvents(db)).length
  for (const [viewer, url, body] of writes) {
    t.match(await post(viewer, url, body), { status: 404, code: 'NOT_FOUND' }, url)
  }
  t.equal((await recordedEvents(db)).length, before)
  await setHidden(false)
})

t.test('realtime connections show nothing of a hidden person', async (t) => {
  t.ok(await describe(ben.id, matchId, message.id))
  t.ok(await presenceOf(ben.id, matchId))
  await setHidden(true)
  t.equal(await describe(ben.id, matchId, message.id), null)
  t.equal(await presenceOf(ben.id, matchId), undefined)
  await setHidden(false)
  t.ok(await describe(ben.id, matchId, message.id))
})
