import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { testApp } from '../test/app.ts'

const { reset } = await testApp(t)

const plan = (activityId: string, fields: object = {}) => ({
  activityId,
  sport: 'running',
  startsAt: '2026-11-28T11:00:00.000Z',
  timezone: 'Asia/Jakarta',
  ...fields
})
const second = (number: number) => new Date(Date.UTC(2026, 10, 20, 12, 0, number))

t.test('a canceled activity leaves one notification: that it is canceled', async (t) => {
  const { receive, inbox, person, deps } = reset()
  deps.now = () => second(10)
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const activityId = randomUUID()
  const host = { hostId: ana, displayName: 'Annie' }
  const invited = async (at: Date) =>
    await receive('fitmatch.activity.invited.v1', plan(activityId, { accountId: ben, ...host }), { at })
  const asked = { hostId: ana, askedBy: null, displayName: null, waitingCount: 2 }
  await receive('fitmatch.activity.asked.v1', plan(activityId, asked), { at: second(1) })
  await invited(second(1))
  t.match((await inbox(ana)).notifications, [{ body: /2 people are waiting/ }])
  const canceled = { accountIds: [ana, ben], reason: 'CANCELED', notifiedIds: [ben] }
  const id = randomUUID()
  for (let turn = 0; turn < 2; turn++) {
    await receive('fitmatch.activity.canceled.v1', plan(activityId, canceled), { at: second(5), id })
  }
  await invited(second(2))
  t.match(
    await inbox(ben),
    { notifications: [{ title: 'Plan canceled' }], unreadCount: 1 },
    'a late invitation is dropped'
  )
  t.equal((await inbox(ben)).notifications.length, 1)
  t.match(await inbox(ana), { notifications: { length: 0 }, unreadCount: 0 }, 'also for the host')
})

t.test('everybody is notified once of an activity whose people several events name, in any order', async (t) => {
  const { receive, inbox, person, deps } = reset()
  deps.now = () => second(10)
  const [ana, ben, cleo] = [await person('Ana'), await person('Ben'), await person('Cleo')]
  const activityId = randomUUID()
  const host = { hostId: ana, displayName: 'Annie' }
  for (const accountId of [ben, cleo]) {
    await receive('fitmatch.activity.invited.v1', plan(activityId, { accountId, ...host }), { at: second(1) })
  }
  const titles = async () =>
    await Promise.all(
      [ben, cleo].map(async (each) => (await inbox(each)).notifications.map(({ title }: { title: string }) => title))
    )
  const receiveAll = async (type: string, at: Date, dataOf: (accountId: string) => object) => {
    const events = [cleo, ben].map((each) => ({ id: randomUUID(), data: plan(activityId, dataOf(each)) }))
    for (const { id, data } of [...events, ...events]) await receive(type, data, { at, id })
  }
  await receiveAll('fitmatch.activity.changed.v1', second(3), (each) => ({
    accountIds: [each],
    changedBy: ana,
    ...host
  }))
  t.match(await titles(), [[/changed/i], [/changed/i]])
  await receiveAll('fitmatch.activity.canceled.v1', second(5), (each) => ({
    accountIds: [each],
    reason: 'CANCELED',
    notifiedIds: [each]
  }))
  t.same(await titles(), [['Plan canceled'], ['Plan canceled']])
})

t.test('a guest whose place ended silently keeps nothing, and can be invited again', async (t) => {
  const { receive, inbox, person, deps } = reset()
  deps.now = () => second(10)
  const [ana, ben, cleo] = [await person('Ana'), await person('Ben'), await person('Cleo')]
  const activityId = randomUUID()
  const invited = async (accountId: string, at: Date) =>
    await receive('fitmatch.activity.invited.v1', plan(activityId, { accountId, hostId: ana, displayName: 'Annie' }), {
      at
    })
  await invited(ben, second(1))
  await invited(cleo, second(1))
  const ended = { accountIds: [ben], reason: 'PLACE_ENDED', notifiedIds: [] }
  await receive('fitmatch.activity.canceled.v1', plan(activityId, ended), { at: second(2) })
  t.match(await inbox(ben), { notifications: { length: 0 }, unreadCount: 0 })
  t.equal((await inbox(cleo)).notifications.length, 1, 'others keep theirs')
  await invited(ben, second(3))
  t.equal((await inbox(ben)).notifications.length, 1)
  await receive('fitmatch.activity.canceled.v1', plan(activityId, ended), { at: second(2) })
  t.equal((await inbox(ben)).notifications.length, 1, 'an old event that comes again changes nothing')
})

t.test('a reminder that comes late says how long it still is, and nothing once it has started', async (t) => {
  const { receive, person, device, inbox, deliverAll, provider, db, log, pushes, deps } = reset()
  deps.now = () => new Date()
  const ana = await person('Ana')
  await device(ana)
  const MINUTE_MS = 60_000
  const remind = async (minutes: number) => {
    const startsAt = new Date(Date.now() + minutes * MINUTE_MS).toISOString()
    await receive('fitmatch.activity.reminded.v1', {
      ...plan(randomUUID(), { startsAt }),
      accountIds: [ana],
      hoursBefore: 1
    })
  }
  await remind(-1)
  t.same((await inbox(ana)).notifications, [], 'the event arrived after the start')
  for (const minutes of [60, 25, 1]) await remind(minutes)
  await deliverAll()
  const titles = ['Starts in 1 hour', 'Starts in 25 minutes', 'Starts in 1 minute']
  t.same(provider.sent.map(({ title }) => title), titles)
  t.same((await inbox(ana)).notifications.map(({ title }: { title: string }) => title), titles.toReversed())

  await remind(5)
  const startsAt = new Date(Date.now() - MINUTE_MS).toISOString()
  await db.updateTable('notifications').set({ params: JSON.stringify({ sport: 'running', startsAt, timezone: 'UTC' }) })
    .execute()
  await deliverAll()
  t.equal(provider.sent.length, 3, 'the push was late')
  t.match((await log(ana))[0], { status: 'muted', reason: 'it has started', title: 'Training reminder' })
  t.same(pushes.enqueued, [])
})

t.test('quiet hours do not hold a reminder past the start', async (t) => {
  const { receive, person, device, db, send, deps } = reset()
  const ana = await person('Ana', { timezone: 'Asia/Jakarta' })
  await device(ana)
  await send(ana, 'PUT', '/notifications/preferences', { quietHours: { enabled: true, start: '22:00', end: '07:00' } })
  // 23:00 in Jakarta.
  const now = new Date('2026-11-20T16:00:00Z')
  deps.now = () => now
  const remind = async (startsAt: string) => {
    const activityId = randomUUID()
    const reminder = { ...plan(activityId), startsAt, accountIds: [ana], hoursBefore: 1 }
    await receive('fitmatch.activity.reminded.v1', reminder, { at: now })
    const { status } = await db.selectFrom('deliveries').innerJoin(
      'notifications',
      'notifications.id',
      'notification_id'
    )
      .where(sql<boolean>`${`activity:${activityId}`} = any(subjects)`).select('status').executeTakeFirstOrThrow()
    return status
  }
  t.equal(await remind('2026-11-20T17:00:00.000Z'), 'pending', 'it starts before the quiet hours end')
  t.equal(await remind('2026-11-21T01:00:00.000Z'), 'held', 'it starts after them')
})
