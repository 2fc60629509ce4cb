import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { PersonChanged } from '@tandem/contracts'
import { readSample } from '@tandem/contracts/samples'
import { notificationTypes } from '../texts/types.ts'
import { testApp, type TestApp } from '../test/app.ts'
import { quietHoursEnd } from '../notifications/quiet-hours.ts'

const { reset } = await testApp(t)

const url = '/notifications/preferences'
const everything = {
  categories: Object.fromEntries(notificationTypes.map((type) => [type, { push: true, inApp: true }])),
  quietHours: { enabled: false, start: '22:00', end: '07:00' }
}
const message = ({ receive }: Pick<TestApp, 'receive'>, senderId: string, recipientId: string) =>
  receive('fitmatch.message.sent.v1', {
    matchId: randomUUID(),
    messageId: randomUUID(),
    senderId,
    recipientId,
    hasImage: false
  })

t.test('everything is on by default, and a change keeps the settings it leaves out', async (t) => {
  const { send } = reset()
  const ana = randomUUID()
  t.strictSame(await send(ana, 'GET', url), { status: 200, success: true, data: { preferences: everything } })
  t.match(await send(ana, 'PUT', url, { categories: { CHAT: { push: false } }, quietHours: { enabled: true } }), {
    status: 200,
    success: true
  })
  await send(ana, 'PUT', url, {
    categories: { ADMIN: { inApp: false }, NONSENSE: { push: false } },
    quietHours: { end: '06:30' },
    other: 1
  })
  const changed = {
    categories: { ...everything.categories, CHAT: { push: false, inApp: true }, ADMIN: { push: true, inApp: false } },
    quietHours: { enabled: true, start: '22:00', end: '06:30' }
  }
  t.strictSame((await send(ana, 'PUT', url)).data.preferences, changed, 'an empty change changes nothing')
  t.strictSame((await send(ana, 'GET', url)).data.preferences, changed)
  t.strictSame((await send(randomUUID(), 'GET', url)).data.preferences, everything)
})

t.test('invalid preferences are rejected', async (t) => {
  const { send } = reset()
  const ana = randomUUID()
  for (
    const body of [
      { categories: { CHAT: { push: 'yes' } } },
      { categories: { CHAT: true } },
      { categories: [] },
      { quietHours: { start: '24:00' } },
      { quietHours: { start: '9:00' } },
      { quietHours: { end: '07:60' } },
      { quietHours: { enabled: 1 } },
      { quietHours: { start: '07:00' } },
      { quietHours: { start: '10:00', end: '10:00' } }
    ]
  ) t.match(await send(ana, 'PUT', url, body), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body))
  t.match(await send(ana, 'PUT', url, { quietHours: { start: '00:00', end: '23:59' } }), { status: 200 })
})

t.test('concurrent changes are all kept', async (t) => {
  const { send } = reset()
  const ana = randomUUID()
  await Promise.all(notificationTypes.map((type) => send(ana, 'PUT', url, { categories: { [type]: { push: false } } })))
  const { preferences } = (await send(ana, 'GET', url)).data
  t.ok(notificationTypes.every((type) => preferences.categories[type].push === false))
})

t.test('a category with push off is not pushed, and one with inApp off is not listed', async (t) => {
  const app = reset()
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  await app.device(ana)
  await app.send(ana, 'PUT', url, {
    categories: { CHAT: { push: false }, SOCIAL_FEED: { inApp: false }, FASTING: { push: false, inApp: false } }
  })
  await message(app, ben, ana)
  await app.receive('social.person.followed.v1', { followerId: ben, followedId: ana })
  await app.receive('fasting.timer.finished.v1', { accountId: ana, timerId: randomUUID(), hours: 16 })
  t.match(await app.inbox(ana), { notifications: [{ type: 'CHAT' }], unreadCount: 1 })
  await app.deliverAll()
  t.match(app.provider.sent, [{ data: { type: 'SOCIAL_FEED' } }])
  t.equal(app.provider.sent.length, 1)
  t.match(await app.log(ana), [
    { type: 'FASTING', status: 'muted', reason: 'the category is muted' },
    { type: 'SOCIAL_FEED', status: 'sent' },
    { type: 'CHAT', status: 'muted' }
  ])
})

t.test('during quiet hours the notification is created and its push waits; account pushes do not wait', async (t) => {
  const app = reset()
  const [ana, ben] = [
    await app.person('Ana', { timezone: 'Asia/Jakarta' }),
    await app.person('Ben', { timezone: 'America/New_York' })
  ]
  await app.device(ana)
  await app.device(ben)
  for (const each of [ana, ben]) await app.send(each, 'PUT', url, { quietHours: { enabled: true } })
  // 23:30 in Jakarta, 11:30 in New York.
  app.clock.now = () => new Date('2026-11-20T16:30:00Z')
  await message(app, ben, ana)
  await message(app, ana, ben)
  app.neighbours.contacts.set(ana, { email: 'ana@example.com', name: 'Ana', locale: 'en' })
  await app.receive('identity.password.changed.v1', { accountId: ana, how: 'CHANGED' })

  t.equal((await app.inbox(ana)).unreadCount, 2)
  t.match(await app.log(ana), [{ type: 'ACCOUNT', status: 'pending' }, {
    type: 'CHAT',
    status: 'held',
    reason: 'quiet hours',
    dueAt: '2026-11-21T00:00:00.000Z'
  }])
  t.match(await app.log(ben), [{ type: 'CHAT', status: 'pending' }])
  t.match(app.pushes.enqueued.map(({ dueAt }) => dueAt.toISOString()).sort().at(-1), '2026-11-21T00:00:00.000Z')
})

t.test('an unreadable time zone counts as UTC, and the others of the same event are notified too', async (t) => {
  const app = reset()
  const ben = await app.person('Ben')
  const unreadable = await app.person('Una', { timezone: 'IST' })
  const others = await Promise.all(Array.from({ length: 49 }, async (_, number) => await app.person(`P${number}`)))
  for (const each of [unreadable, ...others]) await app.device(each)
  await app.send(unreadable, 'PUT', url, { quietHours: { enabled: true } })
  app.clock.now = () => new Date('2026-11-20T23:30:00Z')
  await app.receive('social.people.mentioned.v1', {
    postId: randomUUID(),
    commentId: null,
    authorId: ben,
    mentioned: [unreadable, ...others],
    excerpt: null
  }, { at: app.clock.now() })

  for (const each of [unreadable, ...others]) t.equal((await app.inbox(each)).unreadCount, 1)
  t.match(await app.log(unreadable), [{ status: 'held', dueAt: '2026-11-21T07:00:00.000Z' }])
  t.match(await app.log(others[48]!), [{ status: 'pending' }])
})

t.test('a recipient whose rows are at fault is notified once they are mended, and the 49 others at once', async (t) => {
  const app = reset()
  const ben = await app.person('Ben')
  const recipients = await Promise.all(Array.from({ length: 50 }, async (_, turn) => await app.person(`P${turn}`)))
  for (const each of recipients) await app.device(each)
  const [broken, ...others] = recipients as [string, ...string[]]
  const event = { postId: randomUUID(), commentId: null, authorId: ben, mentioned: recipients, excerpt: null }
  const id = randomUUID()
  const receive = async () => await app.receive('social.people.mentioned.v1', event, { id })
  await app.send(broken, 'PUT', url, { quietHours: { enabled: true } })
  const setStart = async (quiet_hours_start: string) =>
    await app.db.updateTable('preferences').set({ quiet_hours_start }).where('account_id', '=', broken).execute()

  await setStart('late')
  await t.rejects(receive(), RangeError, 'so the event is delivered again')
  t.equal((await app.inbox(broken)).unreadCount, 0)
  for (const each of others) t.equal((await app.inbox(each)).unreadCount, 1)
  await sql`alter table notifications add constraint broken check (account_id <> ${sql.lit(broken)})`.execute(app.db)
  await setStart('00:00')
  await t.rejects(receive(), { code: '23514' })
  await sql`alter table notifications drop constraint broken`.execute(app.db)
  await receive()
  for (const each of recipients) {
    t.equal((await app.inbox(each)).unreadCount, 1)
    t.equal((await app.log(each)).length, 1)
  }
})

t.test('a notification read during quiet hours is not pushed when they end', async (t) => {
  const app = reset()
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  await app.device(ana)
  await app.send(ana, 'PUT', url, { quietHours: { enabled: true } })
  app.clock.now = () => new Date('2026-11-20T16:30:00Z')
  await message(app, ben, ana)
  await message(app, ben, ana)
  const [{ id }] = (await app.inbox(ana)).notifications
  await app.send(ana, 'POST', '/notifications/read', { ids: [id] })
  await app.deliverAll()
  t.equal(app.provider.sent.length, 1)
  t.match(await app.log(ana), [{ status: 'muted', reason: 'the notification was read before the push was due' }, {
    status: 'sent'
  }])
})

t.test('a push that waits is not sent if its category is muted meanwhile', async (t) => {
  const app = reset()
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  await app.device(ana, { sessionId: randomUUID() })
  await app.send(ana, 'PUT', url, { quietHours: { enabled: true } })
  app.clock.now = () => new Date('2026-11-20T16:30:00Z')
  await message(app, ben, ana)
  await app.receive('social.person.followed.v1', { followerId: ben, followedId: ana }, { at: app.clock.now() })
  t.match(await app.log(ana), [{ status: 'held' }, { status: 'held' }])
  await app.send(ana, 'PUT', url, { categories: { CHAT: { push: false }, ACCOUNT: { push: false } } })
  t.equal((await app.send(ana, 'POST', '/notifications/push/test')).status, 200)
  await app.deliverAll()
  t.strictSame(
    new Set(app.provider.sent.splice(0).map(({ data }) => data['type'])),
    new Set(['SOCIAL_FEED', 'ACCOUNT'])
  )
  t.match((await app.log(ana)).at(-1), { type: 'CHAT', status: 'muted', reason: 'the category is muted' })
  await app.send(ana, 'POST', '/notifications/read')
  await app.deliverAll()
  t.match(app.provider.sent, [{ silent: true }], 'the number on the icon is no push of a category')
})

t.test('people who do not want pushes get none of any kind, and everything in their inbox', async (t) => {
  const app = reset()
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  await app.device(ana)
  await message(app, ben, ana)
  await app.deliverAll()
  t.equal(app.provider.sent.splice(0).length, 1)

  const { sample, change } = await profileOf(app, ana)
  await change({ ...sample, pushNotifications: false })
  await message(app, ben, ana)
  await app.receive('identity.password.changed.v1', { accountId: ana, how: 'CHANGED' })
  t.equal((await app.send(ana, 'POST', '/notifications/push/test')).status, 200)
  await app.send(ana, 'POST', '/notifications/read')
  await app.deliverAll()
  t.same(app.provider.sent, [], 'also not silently')
  t.equal((await app.inbox(ana)).notifications.length, 3)
  t.match((await app.log(ana))[0], { status: 'muted', reason: 'pushes are turned off in the profile' })

  await change({ ...sample, pushNotifications: true })
  await message(app, ben, ana)
  await app.deliverAll()
  t.equal(app.provider.sent.length, 1)
})

/** Changes how profile describes a person. */
async function profileOf (app: TestApp, accountId: string) {
  return {
    sample: { ...await readSample(PersonChanged) as object, accountId },
    change: async (data: object) =>
      await app.receive(PersonChanged.type, { ...data, changedAt: new Date().toISOString() })
  }
}

t.test('quiet hours are in local time', (t) => {
  const night = { enabled: true, start: '22:00', end: '07:00' }
  const nap = { enabled: true, start: '13:00', end: '14:30' }
  const end = (hours: typeof night, zone: string, at: string) => quietHoursEnd(hours, zone, new Date(at))?.toISOString()

  // Jakarta is at +07:00: 22:00 there is 15:00 UTC.
  t.equal(end(night, 'Asia/Jakarta', '2026-11-20T14:59:59.999Z'), undefined)
  t.equal(end(night, 'Asia/Jakarta', '2026-11-20T15:00:00Z'), '2026-11-21T00:00:00.000Z')
  t.equal(end(night, 'Asia/Jakarta', '2026-11-20T17:00:00Z'), '2026-11-21T00:00:00.000Z', 'midnight')
  t.equal(end(night, 'Asia/Jakarta', '2026-11-20T23:59:59.999Z'), '2026-11-21T00:00:00.000Z')
  t.equal(end(night, 'Asia/Jakarta', '2026-11-21T00:00:00Z'), undefined)
  t.equal(end(night, 'Asia/Jakarta', '2026-12-31T18:00:00Z'), '2027-01-01T00:00:00.000Z')
  t.equal(end(nap, 'Asia/Jakarta', '2026-11-20T06:00:00Z'), '2026-11-20T07:30:00.000Z')
  t.equal(end(nap, 'Asia/Jakarta', '2026-11-20T07:30:00Z'), undefined)
  t.equal(end({ ...nap, enabled: false }, 'Asia/Jakarta', '2026-11-20T06:00:00Z'), undefined)
  t.equal(end(night, 'Asia/Kathmandu', '2026-11-20T20:00:00Z'), '2026-11-21T01:15:00.000Z')
  t.equal(end(night, 'Pacific/Kiritimati', '2026-11-20T09:00:00Z'), '2026-11-20T17:00:00.000Z')

  // Clocks go forward in Berlin on 29 March at 01:00 UTC, back on 25 October at 01:00 UTC: the night has 8 hours, or
  // 10.
  t.equal(end(night, 'Europe/Berlin', '2026-03-28T21:00:00Z'), '2026-03-29T05:00:00.000Z')
  t.equal(end(night, 'Europe/Berlin', '2026-10-24T20:00:00Z'), '2026-10-25T06:00:00.000Z')
  t.equal(
    end({ ...night, end: '02:30' }, 'Europe/Berlin', '2026-03-28T22:00:00Z'),
    '2026-03-29T01:30:00.000Z',
    '02:30 does not exist on that day; 03:30 is used'
  )
  const early = { ...night, end: '02:30' }
  t.equal(end(early, 'Europe/Berlin', '2026-10-25T00:15:00Z'), '2026-10-25T00:30:00.000Z')
  t.equal(end(early, 'Europe/Berlin', '2026-10-25T01:15:00Z'), '2026-10-25T01:30:00.000Z', 'the second 02:30')
  t.end()
})
