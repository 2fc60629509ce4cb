import { sql } from 'kysely'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { FactsChanged, LikesWithdrawn } from '@tandem/contracts'
import { activityApi, plan } from '../test/activities.ts'
import { createFacts, testApp, type Member } from '../test/app.ts'
import { pairOf } from './pairs.ts'

// A FitMatch profile that was created before its owner entered a birth date.

const app = await testApp(t)
const { db, get, post, put, del, member, person, swipe, subscribe, createMatch, publishedEvents, handlers } = app
const { create, createWith, read, respond, list } = activityApi(app)

const setMainBirthDate = async (accountId: string, birthDate: string | null, changedAt = new Date()) =>
  await deliver(handlers, FactsChanged.type, {
    accountId,
    ...createFacts('Ben', { birthDate }),
    changedAt: changedAt.toISOString()
  })
const ageOf = async ({ id }: { id: string }) => (await get(id, '/fitmatch/profile')).data.age as number | null

t.test('people are invited, accepted and can host as soon as they set a birth date in the main profile', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben', { birthDate: null })]
  t.match(await post(ben.id, '/activities', plan()), { status: 403, code: 'AGE_RESTRICTED' })

  await setMainBirthDate(ben.id, '1995-05-05')
  await createMatch(ana, ben)
  const invited = await post(ana.id, '/activities', plan({ userIds: [ben.id] }))
  t.equal(invited.status, 201)
  t.match(await post(ben.id, `/activities/${invited.data.activity.id}/respond`, { accept: true, version: 1 }), {
    status: 200
  })
  t.match(await post(ben.id, '/activities', plan()), { status: 201 })

  const { id } = await create(ana, { visibility: 'OPEN' })
  t.match(await post(ben.id, `/activities/${id}/join`), { status: 200 })
  t.match(await post(ana.id, `/activities/${id}/requests/${ben.profileId}`, { accept: true }), { status: 200 })
})

t.test('a profile follows the main profile until its owner sets another birth date', async (t) => {
  const year = new Date().getUTCFullYear()
  const following: Member = await member('Ana', { birthDate: '1995-05-05' })
  await setMainBirthDate(following.id, `${year - 40}-01-01`)
  t.equal(await ageOf(following), 40)
  await setMainBirthDate(following.id, `${year - 30}-01-01`, new Date(0))
  t.equal(await ageOf(following), 40, 'not a late event')
  await setMainBirthDate(following.id, null)
  t.equal(await ageOf(following), 40)

  const ownDate = { birthDate: `${year - 50}-01-01` }
  const created = await member('Ben', { fields: ownDate, birthDate: null })
  const changed = await member('Cleo', { birthDate: '1995-05-05' })
  t.match(await put(changed.id, '/fitmatch/profile', ownDate), { status: 200 })
  for (const each of [created, changed]) {
    await setMainBirthDate(each.id, '1995-05-05')
    t.equal(await ageOf(each), 50)
  }
})

t.test('a birth date that is set while a profile is created is not lost', async (t) => {
  const id = person('Ana', { birthDate: null, changedAt: '2026-01-31T08:00:00.000Z' })
  await setMainBirthDate(id, '1995-05-05', new Date('2026-01-31T08:00:01.000Z'))
  t.match(await post(id, '/fitmatch/profile', {}), { status: 201 })
  t.type(await ageOf({ id }), 'number')
})

const setTooYoung = async ({ id }: Member) =>
  await setMainBirthDate(id, Temporal.Now.plainDateISO('UTC').subtract({ years: 17 }).toString())

t.test('a birth date below the minimum age lets nobody meet others', async (t) => {
  const young = await member('Yuki', { birthDate: null })
  await setTooYoung(young)
  t.match(await post(young.id, '/activities', plan()), { status: 403, code: 'AGE_RESTRICTED' })
})

t.test('people who become too young are not swiped, liked, matched, or written to, and write to nobody', async (t) => {
  const [ana, ben, cleo, yuki] = [await member('Ana'), await member('Ben'), await member('Cleo'), await member('Yuki')]
  const matchId = await createMatch(ana, yuki)
  await swipe(yuki, ben)
  await subscribe(ben.id)
  t.match((await get(ben.id, '/fitmatch/likes')).data, { count: 1, profiles: [{ id: yuki.profileId }] })

  await setTooYoung(yuki)
  t.match(await swipe(cleo, yuki), { status: 404, code: 'PROFILE_NOT_FOUND' })
  t.match(await swipe(ben, yuki), { status: 404, code: 'PROFILE_NOT_FOUND' }, 'also not to match')
  t.match(await get(cleo.id, `/fitmatch/profile/${yuki.profileId}`), { status: 404, code: 'PROFILE_NOT_FOUND' })
  t.same((await get(ben.id, '/fitmatch/likes')).data, { count: 0, profiles: [] })
  t.match((await publishedEvents(LikesWithdrawn)).at(-1), { likerId: yuki.id, receiverIds: null })

  const chat = `/fitmatch/chat/${matchId}`
  for (const [path, body] of [['messages', { content: 'Hi' }], ['typing', { isTyping: true }]] as const) {
    t.match(await post(ana.id, `${chat}/${path}`, body), { status: 404, code: 'NOT_FOUND' }, path)
    t.match(await post(yuki.id, `${chat}/${path}`, body), { status: 403, code: 'AGE_RESTRICTED' }, path)
  }
  t.match(await get(ana.id, chat), { status: 200 }, 'what was written stays, and can be reported')
  t.match(await post(ana.id, '/fitmatch/report', { reportedProfileId: yuki.profileId, reason: 'UNDERAGE' }), {
    status: 201
  })
})

t.test('the places and buddies of people who become too young end', async (t) => {
  const [ana, yuki] = [await member('Ana'), await member('Yuki')]
  await createMatch(ana, yuki)
  const hosted = await createWith(yuki, [ana], { visibility: 'OPEN' })
  const joined = await createWith(ana, [yuki])
  await db.insertInto('buddies').values({ ...pairOf(ana.id, yuki.id), sport: 'running' }).execute()

  await setTooYoung(yuki)
  t.match(await read(ana, hosted.id), { status: 'CANCELED' })
  t.match(await read(ana, joined.id), { goingCount: 1 })
  t.same(
    await db.selectFrom('buddies').selectAll().where('high_id', '=', pairOf(ana.id, yuki.id).high_id).execute(),
    []
  )
})

t.test('people below a minimum age that was raised can leave, decline and cancel, and nobody joins them', async (t) => {
  const [ana, ben, yuki] = [await member('Ana'), await member('Ben'), await member('Yuki')]
  await createMatch(ana, yuki)
  const hosted = await createWith(yuki, [], { visibility: 'OPEN' })
  const joined = await createWith(ana, [yuki])
  const invited = await create(ana, { userIds: [yuki.id] })
  const invitedBen = await create(yuki, { visibility: 'OPEN' })
  t.match(await post(ben.id, `/activities/${invitedBen.id}/join`), { status: 200 })
  // Nothing tells fitmatch that the limit is another one now.
  await db.updateTable('profiles').set({ birth_date: sql`current_date - 6000` }).where('account_id', '=', yuki.id)
    .execute()

  t.match(await post(ben.id, `/activities/${hosted.id}/join`), { status: 404, code: 'NOT_FOUND' })
  t.notOk((await get(ben.id, '/activities/nearby')).data.activities.some(({ id }: { id: string }) => id === hosted.id))
  t.same((await list(yuki, 'upcoming')).length, 3)
  t.match(await respond(yuki, invited.id), { status: 403, code: 'AGE_RESTRICTED' })
  t.match(await respond(yuki, invited.id, false), { status: 200 })
  t.match(await del(yuki.id, `/activities/${joined.id}/join`), { status: 200 })
  t.match(await post(yuki.id, `/activities/${invitedBen.id}/requests/${ben.profileId}`, { accept: true }), {
    status: 403
  })
  t.match(await post(yuki.id, `/activities/${invitedBen.id}/requests/${ben.profileId}`, { accept: false }), {
    status: 200
  })
  for (const { id } of [hosted, invitedBen]) t.match(await del(yuki.id, `/activities/${id}`), { status: 200 })
  t.same(await list(yuki, 'upcoming'), [])
})
