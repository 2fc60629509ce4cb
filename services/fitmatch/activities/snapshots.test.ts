import { randomUUID } from 'node:crypto'
import t from 'tap'
import { activityApi, inDays } from '../test/activities.ts'
import { testApp, type Member } from '../test/app.ts'
import { findActivitySnapshot } from './queries.ts'
import { handleActivitySnapshot } from './rpc.ts'

const api = await testApp(t)
const { db, deps, post, del, member, services } = api
const { create, createWith, respond, letEverybodyFollow } = activityApi(api)
letEverybodyFollow()
const snapshotFor = async ({ id: accountId }: Pick<Member, 'id'>, activityId: string) =>
  await handleActivitySnapshot(deps).handle({ accountId, activityId })

t.test('only the host can show the place of an activity in a post, and nobody its note', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  for (const visibility of ['INVITED', 'OPEN']) {
    const { id } = await createWith(ana, [ben], {
      visibility,
      capacity: 3,
      title: 'Evening run',
      locationName: 'Secret gym 4711',
      note: 'Secret note'
    })
    const shown = {
      id,
      title: 'Evening run',
      sport: 'running',
      date: inDays(3),
      startTime: '18:00',
      startsAt: `${inDays(3)}T18:00:00.000Z`,
      locationName: 'Secret gym 4711',
      participants: 2,
      isOpen: visibility === 'OPEN'
    }
    t.same(await snapshotFor(ana, id), shown)
    t.same(await snapshotFor(ben, id), { ...shown, locationName: null })
  }
})

t.test('people who do not take part get nothing, as for an activity that does not exist', async (t) => {
  const [ana, invited, declined, left, asked, outsider, blocked] = await Promise.all(
    ['Ana', 'Ivy', 'Dee', 'Liv', 'Ask', 'Out', 'Bob'].map(async (name) => await member(name))
  ) as [Member, Member, Member, Member, Member, Member, Member]
  const { id } = await create(ana, {
    visibility: 'OPEN',
    capacity: 9,
    userIds: [invited, declined, left, blocked].map((guest) => guest.id)
  })
  await respond(declined, id, false)
  await respond(left, id)
  await del(left.id, `/activities/${id}/join`)
  await post(asked.id, `/activities/${id}/join`)
  await post(ana.id, '/fitmatch/block', { blockedProfileId: blocked.profileId })
  for (const guest of [ana, invited]) t.match(await snapshotFor(guest, id), { id })
  for (const other of [declined, left, asked, outsider, blocked]) t.equal(await snapshotFor(other, id), null)
  t.equal(await snapshotFor(ana, randomUUID()), null)
})

t.test('an activity is open while people can ask for a free place', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const isOpen = async (id: string) => (await findActivitySnapshot(db, ana.id, id, deps.now()))?.isOpen
  const full = await createWith(ana, [ben], { visibility: 'OPEN', capacity: 2 })
  t.equal(await isOpen(full.id), false)
  await del(ben.id, `/activities/${full.id}/join`)
  t.equal(await isOpen(full.id), true)
  await del(ana.id, `/activities/${full.id}`)
  t.equal(await isOpen(full.id), false, 'canceled')

  const started = await create(ana, { visibility: 'OPEN' })
  services.now = new Date(`${inDays(3)}T18:00:00Z`)
  t.equal(await isOpen(started.id), false)
})
