import t from 'tap'
import { PersonHidden } from '@tandem/contracts'
import { deliver } from '@tandem/bus-kit/testing'
import { listReads } from '@tandem/http-kit/testing'
import { activityApi, inDays } from '../test/activities.ts'
import { testApp, type Member } from '../test/app.ts'
import { realtimeOf } from '../test/realtime.ts'

// Requests every GET of the API document. A new one is requested too, and fails here if it names an object that this
// test does not know, or shows what the predicates (visibility.ts) would have refused.

const app = await testApp(t)
const { deps, handlers, get, post, member, createMatch } = app
const { create, createWith, respond } = activityApi(app)
const { describe } = realtimeOf(app)

interface Objects {
  owner: Member
  matchId: string
  messageId: string
  activityId: string
}

/** Their chat with `other`, and an activity of theirs to which they have invited the guests. */
async function createObjects (owner: Member, other: Member, guests: Member[]): Promise<Objects> {
  const chat = await createChat(owner, other)
  const activity = await createWith(owner, guests, { note: 'secret' })
  return { owner, ...chat, activityId: activity.id }
}

async function createChat (owner: Member, other: Member) {
  const matchId = await createMatch(owner, other)
  const { data } = await post(owner.id, `/fitmatch/chat/${matchId}/messages`, { content: 'secret' })
  return { matchId, messageId: data.message.id as string }
}

const readsOf = async ({ owner, matchId, messageId, activityId }: Objects) =>
  (await listReads(app.app, {
    objects: {
      '/fitmatch/profile/{profileId}': `/fitmatch/profile/${owner.profileId}`,
      '/fitmatch/chat/{matchId}': `/fitmatch/chat/${matchId}`,
      '/activities/{id}': `/activities/${activityId}`,
      '/fitmatch/admin/verifications/{id}': `/fitmatch/admin/verifications/${activityId}`
    },
    query: {
      excludeIds: owner.profileId,
      markRead: 'false',
      after: '2026-01-01T00:00:00.000Z',
      afterId: messageId,
      sport: 'running',
      query: 'gym',
      country: 'ID',
      latitude: '-6.2',
      longitude: '106.8',
      radiusKm: '50',
      from: inDays(0),
      to: inDays(7)
    }
  })).flatMap((read) =>
    // The search of gyms refuses one coordinate alone.
    read.urls.filter((url) => !/[?&](latitude|longitude)=/.test(url)).map((url) => ({
      ...read,
      url,
      isForAdmins: read.path.includes('/admin/'),
      // The safety check is the caller's own, or null.
      hasObject: read.hasObject && !read.path.endsWith('/safety')
    }))
  )

const [zelda, cat] = [await member('Zelda'), await member('Cat')]
const [stranger, blocked, blocker, friend] = [
  await member('Stranger'),
  await member('Blocked'),
  await member('Blocker'),
  await member('Friend')
]
const own = new Map<Member, Objects>()
const chatWithFriend = await createChat(zelda, friend)
for (const viewer of [blocked, blocker]) await createMatch(zelda, viewer)
for (const viewer of [blocked, blocker, friend]) own.set(viewer, await createObjects(viewer, cat, [zelda]))
const zeldas = await createObjects(zelda, cat, [friend, blocked, blocker])
const withFriend = { ...zeldas, ...chatWithFriend }

const showsAccount = (response: { headers: object }) => JSON.stringify({ ...response, headers: {} }).includes(zelda.id)
const showsZelda = (response: { headers: object }) => {
  const text = JSON.stringify({ ...response, headers: {} })
  return [zelda.id, zelda.profileId, 'Zelda'].some((each) => text.includes(each))
}

t.test('people see what is theirs, and who takes part in it', async (t) => {
  let shown = 0
  for (const { url, isForAdmins } of [...await readsOf(own.get(friend)!), ...await readsOf(withFriend)]) {
    const response = await get(friend.id, url)
    t.equal(response.status, isForAdmins ? 403 : 200, url)
    if (showsZelda(response)) shown++
    if (/^\/(fitmatch|activities)/.test(url)) t.notOk(showsAccount(response), `${url} shows no account of others`)
  }
  t.ok(shown >= 8)
})

t.test('nothing else that FitMatch responds, or its frames show names an account of others', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const { matchId } = chatWithFriend
  await post(zelda.id, '/fitmatch/swipe', { targetProfileId: ana.profileId, swipeType: 'LIKE' })
  await post(friend.id, '/fitmatch/swipe', { targetProfileId: ana.profileId, swipeType: 'LIKE' })
  const message = await post(friend.id, `/fitmatch/chat/${matchId}/messages`, { content: 'Hi' })
  const shownToAna = [
    await post(ana.id, '/fitmatch/swipe', { targetProfileId: zelda.profileId, swipeType: 'LIKE' }),
    await post(ana.id, '/fitmatch/block', { blockedProfileId: friend.profileId }),
    await get(ana.id, '/fitmatch/block'),
    await get(ana.id, '/blocks'),
    await post(ana.id, '/fitmatch/report', { reportedProfileId: ben.profileId, reason: 'SPAM' })
  ]
  const shownToZelda = [
    await get(zelda.id, `/fitmatch/chat/${matchId}?markRead=false`),
    await describe(zelda.id, matchId, message.data.message.id)
  ]
  const accountsIn = (shown: (object | null)[]) => {
    t.notOk(shown.includes(null))
    const text = JSON.stringify(shown.map((each) => ({ ...each, headers: {} })))
    return [ana, ben, zelda, friend].filter(({ id }) => text.includes(id))
  }
  t.strictSame(accountsIn(shownToAna), [])
  t.strictSame(accountsIn(shownToZelda), [zelda], 'only their own, as a participant')
})

t.test('a stranger sees nothing of chats and invitations', async (t) => {
  for (const { url, path, hasObject } of await readsOf(zeldas)) {
    const response = await get(stranger.id, url)
    t.notMatch(JSON.stringify(response), 'secret', url)
    if (hasObject && /^\/(fitmatch\/chat|activities)/.test(path)) t.equal(response.status, 404, url)
  }
})

t.test('an invited person reads the exact place nowhere, until they go', async (t) => {
  const [host, guest] = [await member('Host'), await member('Guest')]
  const chat = await createChat(host, guest)
  const activity = await create(host, { visibility: 'OPEN', userIds: [guest.id] })
  const exact = /-6\.2186|106\.8018/
  const readEverything = async () => {
    const reads = await readsOf({ owner: host, ...chat, activityId: activity.id })
    const personalData = {
      url: 'personal data',
      response: await deps.erasure.readPersonalData({ accountId: guest.id, after: null })
    }
    return [
      ...await Promise.all(reads.map(async ({ url }) => ({ url, response: await get(guest.id, url) }))),
      personalData
    ]
  }
  const showing = (shown: { url: string, response: object }[], text: RegExp) =>
    shown.filter(({ response }) => text.test(JSON.stringify({ ...response, headers: {} }))).map(({ url }) => url)

  const invited = await readEverything()
  t.strictSame(showing(invited, exact), [])
  t.ok(showing(invited, /Gelora/).length > 0, 'they read where it is about')
  await respond(guest, activity.id)
  t.ok(showing(await readEverything(), exact).length > 0)
  const outbox = await deps.db.selectFrom('outbox').select('data').execute()
  t.notMatch(JSON.stringify(outbox), exact, 'no event carries it')
  t.notMatch(JSON.stringify(outbox), /Gelora/)
})

async function seesNothing (t: Test, viewer: Member, objects: Objects) {
  for (const { url, hasObject, isForAdmins } of await readsOf(objects)) {
    if (hasObject) t.equal((await get(viewer.id, url)).status, isForAdmins ? 403 : 404, url)
  }
  for (const { url, path, isForAdmins } of await readsOf(own.get(viewer)!)) {
    const response = await get(viewer.id, url)
    t.equal(response.status, isForAdmins ? 403 : 200, url)
    // A list of the people that its owner has blocked.
    if (path.endsWith('/block') || path === '/blocks') continue
    t.notOk(showsZelda(response), `${url} shows nothing of Zelda`)
  }
}
type Test = Pick<typeof t, 'equal' | 'notOk'>

t.test('a friend sees nothing of a person who is paused', async (t) => {
  const setHidden = async (hidden: boolean, at: Date) =>
    await deliver(handlers, PersonHidden.type, { accountId: zelda.id, hidden }, { at })
  await setHidden(true, new Date())
  await seesNothing(t, friend, withFriend)
  await setHidden(false, new Date(Date.now() + 1_000))
})

t.test('a block hides both from each other', async (t) => {
  t.equal((await post(zelda.id, '/fitmatch/block', { blockedProfileId: blocked.profileId })).status, 200)
  t.equal((await post(blocker.id, '/fitmatch/block', { blockedProfileId: zelda.profileId })).status, 200)
  for (const viewer of [blocked, blocker]) await seesNothing(t, viewer, zeldas)
})
