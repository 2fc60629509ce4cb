import t from 'tap'
import { deliver, recordedEvents } from '@tandem/bus-kit/testing'
import { ActivityAsked, FitMatchOverview, PersonHidden } from '@tandem/contracts'
import { runDueTimers } from '../activities/timers.ts'
import { activityApi } from '../test/activities.ts'
import { realtimeOf } from '../test/realtime.ts'
import { testApp } from '../test/app.ts'

// Every path from one person to another, while one of them is hidden: a deletion, a pause or a ban.

const app = await testApp(t)
const { db, handlers, rpcHandlers, get, post, del, person, member, swipe, createMatch, subscribe, publishedEvents } =
  app
const { create, createWith } = activityApi(app)
const { describe, presenceOf } = realtimeOf(app)

const [zelda, ben, cat] = [await member('Zelda'), await member('Ben'), await member('Cat')]
const matchId = await createMatch(zelda, ben)
const { data: { message } } = await post(zelda.id, `/fitmatch/chat/${matchId}/messages`, { content: 'secret' })
await subscribe(cat.id)
await swipe(zelda, cat)
await createMatch(cat, ben)
// Zelda hosts one activity, goes to one of Ben's, and asks for a place in one of Cat's.
const hosted = await createWith(zelda, [ben], { visibility: 'OPEN' })
const attended = await createWith(ben, [zelda], { capacity: 4 })
const wanted = await create(cat, { visibility: 'OPEN', capacity: 4, userIds: [ben.id] })
await post(zelda.id, `/activities/${wanted.id}/join`)

interface Named {
  displayName: string
}

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
  [ben.id, '/fitmatch/matches'],
  [cat.id, '/activities/nearby'],
  [ben.id, '/activities?filter=upcoming'],
  [ben.id, `/activities/${attended.id}`],
  [cat.id, `/activities/${wanted.id}`]
]
const single: [viewer: string, url: string][] = [
  [cat.id, `/fitmatch/profile/${zelda.profileId}`],
  [ben.id, `/fitmatch/profile/${zelda.profileId}`],
  [ben.id, `/fitmatch/chat/${matchId}`],
  [ben.id, `/fitmatch/chat/${matchId}/messages`],
  [ben.id, `/activities/${hosted.id}`],
  [cat.id, `/activities/${hosted.id}`]
]
const writes: [viewer: string, url: string, body: object][] = [
  [ben.id, `/fitmatch/chat/${matchId}/messages`, { content: 'x' }],
  [ben.id, `/fitmatch/chat/${matchId}/read`, {}],
  [ben.id, `/fitmatch/chat/${matchId}/typing`, { isTyping: true }],
  [cat.id, '/fitmatch/swipe', { targetProfileId: zelda.profileId, swipeType: 'LIKE' }],
  [ben.id, `/activities/${hosted.id}/check-in`, {}],
  [cat.id, `/activities/${hosted.id}/join`, {}],
  [ben.id, `/activities/${attended.id}/invite`, { userIds: [zelda.id] }],
  [cat.id, `/activities/${wanted.id}/requests/${zelda.profileId}`, { accept: true }],
  [cat.id, '/buddies/requests', { userId: zelda.id, sport: 'running' }],
  [cat.id, '/blocks', { userId: zelda.id }],
  [cat.id, '/fitmatch/block', { blockedProfileId: zelda.profileId }],
  [cat.id, '/fitmatch/report', { reportedProfileId: zelda.profileId, reason: 'SPAM' }]
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

t.test('discover neither shows nor counts hidden people, also those who were hidden before they had a profile', async (t) => {
  const dina = person('Dina')
  const hideDina = async (hidden: boolean) =>
    await deliver(handlers, PersonHidden.type, { accountId: dina, hidden }, { at: new Date(Date.now() + changes++) })
  const discovered = async () => {
    const { profiles, remaining } = (await get(cat.id, '/fitmatch/discover?limit=50')).data
    return { count: profiles.length + remaining, names: profiles.map(({ displayName }: Named) => displayName) }
  }
  const before = await discovered()
  await hideDina(true)
  t.equal((await post(dina, '/fitmatch/profile')).status, 201)
  t.same(await discovered(), before)
  await hideDina(false)
  t.match(await discovered(), { count: before.count + 1 })
  await setHidden(true)
  t.match(await discovered(), { count: before.count })
  t.notOk((await discovered()).names.includes('Zelda'))
  await setHidden(false)
})

t.test('nobody can act on a hidden person, and no event is published', async (t) => {
  await setHidden(true)
  const before = (await recordedEvents(db)).length
  for (const [viewer, url, body] of writes) {
    t.match(await post(viewer, url, body), { status: 404, code: 'NOT_FOUND' }, url)
  }
  const removed = await del(ben.id, `/activities/${attended.id}/participants/${zelda.profileId}`)
  t.match(removed, { status: 404, code: 'NOT_FOUND' })
  t.equal((await recordedEvents(db)).length, before)
  await setHidden(false)
})

t.test('a hidden person keeps nobody else from being invited and accepted', async (t) => {
  const dina = await member('Dina')
  await createMatch(ben, dina)
  await setHidden(true)
  const { id } = await create(ben, { visibility: 'OPEN', capacity: 4, userIds: [dina.id] })
  await post(cat.id, `/activities/${id}/join`)
  t.match(await post(ben.id, `/activities/${id}/requests/${cat.profileId}`, { accept: true }), { status: 200 })
  await setHidden(false)
})

t.test('a hidden person is not counted and keeps their place, and nobody is reminded of what they host', async (t) => {
  const goingCount = async () => (await get(ben.id, `/activities/${attended.id}`)).data.activity.goingCount
  const places = async () =>
    (await db.selectFrom('activities').where('id', '=', attended.id).select('going_count as taken')
      .executeTakeFirstOrThrow()).taken
  const before = await goingCount()
  t.equal(await places(), before)
  await setHidden(true)
  t.equal(await goingCount(), before - 1)
  t.equal(await places(), before)
  const inOneHour = (startsAt: Date) => new Date(startsAt.getTime() - 60 * 60 * 1_000 + 1)
  const { startsAt } = await db.selectFrom('activities').where('id', '=', hosted.id)
    .select('starts_at as startsAt').executeTakeFirstOrThrow()
  await runDueTimers(db, () => inOneHour(startsAt))
  const reminded = (await recordedEvents(db)).filter(({ type }) => type === 'fitmatch.activity.reminded.v1')
  t.notOk(JSON.stringify(reminded).includes(hosted.id))
  t.ok(JSON.stringify(reminded).includes(attended.id), 'the others are')
  await setHidden(false)
})

t.test('a host is notified of as many waiting people as they see', async (t) => {
  const [dina, eli] = [await member('Dina'), await member('Eli')]
  const { id } = await create(cat, { visibility: 'OPEN', capacity: 2 })
  for (const guest of [zelda, dina, eli]) await post(guest.id, `/activities/${id}/join`)
  await post(cat.id, `/activities/${id}/requests/${dina.profileId}`, { accept: true })
  await setHidden(true)
  t.match(await del(dina.id, `/activities/${id}/join`), { status: 200 })
  t.match((await publishedEvents(ActivityAsked)).at(-1), { activityId: id, askedBy: null, waitingCount: 1 })
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

t.test('people who go to an activity of a hidden host can leave it', async (t) => {
  await setHidden(true)
  t.match(await del(ben.id, `/activities/${hosted.id}/join`), { status: 200 })
  t.match(await del(ben.id, `/activities/${hosted.id}/join`), { status: 404 })
  await setHidden(false)
  const own = await db.selectFrom('activity_participants').select('state').where('activity_id', '=', hosted.id)
    .where('account_id', '=', ben.id).executeTakeFirst()
  t.equal(own?.state, 'LEFT')
})

t.test('who was matched with somebody can report and block them while they are hidden', async (t) => {
  await setHidden(true)
  const report = { reportedProfileId: zelda.profileId, reason: 'HARASSMENT' }
  t.match(await post(ben.id, '/fitmatch/report', report), { status: 201 })
  t.match(await get(ben.id, '/fitmatch/block'), { data: { blockedUsers: [{ profileId: zelda.profileId }] } })
  await setHidden(false)
})
