import { randomUUID } from 'node:crypto'
import { PersonHidden, producerEventTypes, type ProducerEventType } from '@tandem/contracts'
import { sql } from 'kysely'
import { operatorBearer } from '@tandem/operator-kit/testing'
import { recordedEvents } from '@tandem/bus-kit/testing'
import t from 'tap'
import { testApp } from '../test/app.ts'
import { addProducer, revokeProducer } from './actions.ts'
import { handleProducerEvents } from './handle.ts'

const test = await testApp(t)
const { app, db, deps } = test

type Payload = object | string

const HOUR_MS = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()

async function producer (eventTypes: ProducerEventType[] = producerEventTypes, eventsPerSecond = 10_000) {
  return await addProducer(db, { name: `p-${randomUUID().slice(0, 8)}`, eventTypes, eventsPerSecond })
}

async function post (key: string | undefined, payload: Payload, contentType = 'application/cloudevents+json') {
  const response = await app.inject({
    method: 'POST',
    url: '/producers/events',
    headers: { 'content-type': contentType, ...key && { authorization: `Bearer ${key}` } },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload)
  })
  return { status: response.statusCode, ...response.json() }
}

const event = (type: string, data: object, { id = randomUUID(), time = new Date().toISOString() } = {}) => ({
  specversion: '1.0',
  id,
  source: 'https://bookings.example',
  type,
  time,
  data
})
const yoga = (accountId: string, others: object = {}) => ({
  accountId,
  bookingId: 'B-1',
  title: 'Yoga',
  startsAt: inHours(24),
  endsAt: inHours(25),
  ...others
})

/** Handles what is due, and sends the pushes. @returns what people see of them, in the order of the alphabet */
async function pushed () {
  await handleProducerEvents(deps)
  await test.deliverAll()
  return test.provider.sent.splice(0).filter(({ silent }) => !silent)
    .map(({ title, body }) => `${title}: ${body}`).sort()
}

async function storedRows () {
  const { rows: [counts] } = await sql<Record<string, number>>`
    select (select count(*) from producer_event_ids) as ids, (select count(*) from producer_events) as events,
      (select count(*) from bookings) as bookings, (select count(*) from outbox) as outbox`.execute(db)
  return counts
}

t.beforeEach(() => void test.reset())

t.test('a booking is confirmed, reminded of at its time, and shown to other services', async (t) => {
  const { id: producerId, key } = await producer()
  const ana = await test.person('Ana')
  await test.device(ana)
  const remindAt = inHours(20)
  const confirmed = event('booking.confirmed', yoga(ana, { locationName: 'Studio 2' }))
  t.match(await post(key, [confirmed, event('booking.reminder', yoga(ana, { remindAt }))]), {
    status: 202,
    data: { results: [{ id: confirmed.id, status: 'accepted' }, { status: 'accepted' }] }
  })
  t.match(await pushed(), [/^Booking confirmed: Yoga, /])
  t.match((await recordedEvents(db)).slice(-1), [{
    type: 'notification.booking.changed.v1',
    data: { accountId: ana, bookingId: 'B-1', title: 'Yoga', locationName: 'Studio 2', isCancelled: false, version: 1 }
  }])
  test.clock.now = () => new Date(remindAt)
  t.match(await pushed(), [/^Booking reminder: Yoga, /])
  t.match((await test.inbox(ana)).notifications, [
    { type: 'BOOKING', title: 'Booking reminder', data: { bookingId: 'B-1' } },
    { type: 'BOOKING', title: 'Booking confirmed' }
  ])
  t.same(await pushed(), [], 'once')
  t.same((await storedRows())?.['events'], 0)
  t.ok(producerId)
})

t.test('of a booking that moves, people are reminded before its new time only', async (t) => {
  const { key } = await producer()
  const ana = await test.person('Ana')
  await test.device(ana)
  const [before, after] = [{ startsAt: inHours(24), endsAt: inHours(25) }, {
    startsAt: inHours(48),
    endsAt: inHours(49)
  }]
  const [reminder, later] = [inHours(20), inHours(44)]
  await post(key, [
    event('booking.confirmed', yoga(ana, before), { time: inHours(-2) }),
    event('booking.reminder', yoga(ana, { ...before, remindAt: reminder }), { time: inHours(-2) })
  ])
  t.match(await pushed(), [/^Booking confirmed: /])
  await post(key, [
    event('booking.confirmed', yoga(ana, { ...after, title: 'Late yoga' }), { time: inHours(-1) }),
    event('booking.reminder', yoga(ana, { ...after, remindAt: later }), { time: inHours(-1) })
  ])
  t.same(await pushed(), [])
  test.clock.now = () => new Date(reminder)
  t.same(await pushed(), [], 'not at the old time')
  test.clock.now = () => new Date(later)
  t.match(await pushed(), [/^Booking reminder: Yoga, /])
})

t.test('a reminder whose push waits is withdrawn when its booking moves, and no other one is', async (t) => {
  const { key } = await producer()
  const ana = await test.person('Ana')
  await test.device(ana)
  const at = (minutes: number) => ({ time: new Date(Date.now() - minutes * 60_000).toISOString() })
  const moved = { startsAt: inHours(48), endsAt: inHours(49) }
  const [first, second] = [yoga(ana), yoga(ana, { bookingId: 'B-2' })]
  await post(key, [first, second].map((each) => event('booking.confirmed', each, at(5))))
  t.equal((await pushed()).length, 2)
  await post(key, [first, second].map((each) => event('booking.reminder', each, at(4))))
  await handleProducerEvents(deps)
  await post(key, [
    event('booking.confirmed', { ...first, ...moved }, at(3)),
    event('booking.confirmed', { ...second, title: 'Pilates' }, at(3))
  ])
  t.match(await pushed(), { length: 1, 0: /^Booking reminder: Yoga, / })
  const { notifications } = await test.inbox(ana)
  t.match(notifications.filter(({ title }: { title: string }) => title === 'Booking reminder'), {
    length: 1,
    0: { data: { bookingId: 'B-2' } }
  })
  await post(key, event('booking.reminder', { ...first, ...moved }, at(2)))
  t.match(await pushed(), [/^Booking reminder: Yoga, /], 'of its new time')
})

t.test('a reminder that could not be pushed before the start is not pushed after it', async (t) => {
  const { key } = await producer()
  const ana = await test.person('Ana')
  await test.device(ana)
  const text = { en: { title: 'See you', body: 'Soon' } }
  await post(key, [
    event('booking.reminder', yoga(ana)),
    event('booking.reminder', yoga(ana, { text })),
    event('booking.confirmed', yoga(ana, { bookingId: 'B-2', text }))
  ])
  await handleProducerEvents(deps)
  const started = JSON.stringify({ startsAt: inHours(-1) })
  await sql`update notifications set params = params || ${started}::jsonb where params ? 'startsAt'`.execute(db)
  t.same(await pushed(), ['See you: Soon'], 'the confirmation')
})

t.test('a person who is hidden is pushed what they booked', async (t) => {
  const { key } = await producer()
  const ana = await test.person('Ana')
  await test.device(ana)
  await test.receive(PersonHidden.type, { accountId: ana, hidden: true })
  const text = { en: { title: 'See you', body: 'Soon' } }
  await post(key, [event('booking.confirmed', yoga(ana)), event('booking.reminder', yoga(ana, { text }))])
  t.match(await pushed(), { length: 2, 0: /^Booking confirmed: /, 1: 'See you: Soon' })
})

t.test('an event counts once, in one batch and in later ones', async (t) => {
  const { key } = await producer()
  const ana = await test.person('Ana')
  await test.device(ana)
  const confirmed = event('booking.confirmed', yoga(ana))
  t.match((await post(key, [confirmed, confirmed])).data.results, [{ status: 'accepted' }, { status: 'repeated' }])
  const answers = await Promise.all(Array.from({ length: 5 }, async () => await post(key, confirmed)))
  t.ok(answers.every(({ status, data }) => status === 202 && data.results[0].status === 'repeated'))
  t.equal((await pushed()).length, 1)
  const { key: other } = await producer()
  t.match((await post(other, confirmed)).data.results, [{ status: 'accepted' }], 'ids belong to their producer')
  t.equal((await pushed()).length, 1)
})

t.test('a cancellation withdraws the notification, and wins if it arrives before the confirmation', async (t) => {
  const { key } = await producer()
  const [ana, ben] = [await test.person('Ana'), await test.person('Ben')]
  for (const each of [ana, ben]) await test.device(each)
  await post(key, [
    event('booking.confirmed', yoga(ana)),
    event('booking.reminder', yoga(ana, { remindAt: inHours(23) })),
    event('booking.confirmed', yoga(ben))
  ])
  t.equal((await pushed()).length, 2)
  await post(key, event('booking.cancelled', { accountId: ana, bookingId: 'B-1' }))
  t.same(await pushed(), [])
  t.same((await test.inbox(ana)).notifications, [])
  t.match((await test.inbox(ben)).notifications, [{ title: 'Booking confirmed' }], 'bookings of others stay')
  t.match((await recordedEvents(db)).at(-1)?.data, { accountId: ana, isCancelled: true, version: 2 })
  test.clock.now = () => new Date(inHours(23))
  t.same(await pushed(), [], 'no reminder of a cancelled booking')
  test.reset()

  const early = event('booking.cancelled', { accountId: ana, bookingId: 'B-2' })
  t.match(await post(key, early), { status: 202 })
  await pushed()
  const events = (await recordedEvents(db)).length
  await post(key, [
    event('booking.confirmed', yoga(ana, { bookingId: 'B-2' })),
    event('booking.reminder', yoga(ana, { bookingId: 'B-2' }))
  ])
  t.same(await pushed(), [])
  t.same((await test.inbox(ana)).notifications, [])
  t.equal((await recordedEvents(db)).length, events, 'other services never hear of it')
})

t.test('a later confirmation changes a booking, an earlier one does not', async (t) => {
  const { key } = await producer()
  const ana = await test.person('Ana')
  await test.device(ana)
  const at = (minutes: number) => ({ time: new Date(Date.now() - minutes * 60_000).toISOString() })
  await post(key, event('booking.confirmed', yoga(ana, { title: 'Pilates' }), at(2)))
  t.match(await pushed(), [/Pilates/])
  await post(key, event('booking.confirmed', yoga(ana, { title: 'Yoga' }), at(1)))
  await post(key, event('booking.confirmed', yoga(ana, { title: 'Old' }), at(3)))
  t.same(await pushed(), [], 'it is sent once')
  t.match((await test.inbox(ana)).notifications, [{ body: /^Yoga, / }])
  t.match((await recordedEvents(db)).at(-1)?.data, { title: 'Yoga', version: 2 })
  const text = { en: { title: 'Moved', body: 'To the big hall' } }
  await post(key, event('booking.confirmed', yoga(ana, { text }), at(0)))
  t.same(await pushed(), [])
  t.match((await test.inbox(ana)).notifications, [{ title: 'Moved', body: 'To the big hall' }])
})

t.test('the words of a producer are shown in the language of the person', async (t) => {
  const { key } = await producer()
  const [ana, dewi] = [await test.person('Ana'), await test.person('Dewi', { locale: 'id' })]
  const text = {
    en: { title: 'See you', body: 'Look at https://api.example/classes' },
    id: { title: 'Sampai jumpa', body: 'Bawa handuk' }
  }
  await post(key, [
    event('booking.confirmed', yoga(ana, { text })),
    event('admin.announcement', { accountIds: [ana, dewi], text: { id: text.id } })
  ])
  await pushed()
  t.match((await test.inbox(ana)).notifications.map(({ title }: { title: string }) => title).sort(), [
    'Sampai jumpa',
    'See you'
  ])
  t.match((await test.inbox(dewi)).notifications, [{ type: 'ADMIN', title: 'Sampai jumpa', body: 'Bawa handuk' }])
})

t.test('an account is named by its token as well, and unknown ones are answered alike, dropped and counted', async (t) => {
  const { id, key } = await producer()
  const ana = await test.person('Ana')
  await test.device(ana)
  const token = randomUUID()
  test.neighbours.accountTokens.set(token, ana)
  test.neighbours.isIdentityUnavailable = true
  const { accountId: _, ...named } = yoga(ana)
  const answer = await post(key, [
    event('booking.confirmed', { ...named, accountToken: token }),
    event('booking.confirmed', { ...named, accountToken: randomUUID() }),
    event('booking.confirmed', yoga(randomUUID())),
    event('booking.confirmed', yoga(ana, { bookingId: 'B-2' }))
  ])
  t.equal(answer.status, 202)
  t.ok(answer.data.results.every(({ status }: { status: string }) => status === 'accepted'))
  await t.rejects(handleProducerEvents(deps))
  await test.deliverAll()
  t.equal(test.provider.sent.splice(0).length, 1, 'those whose accounts are known do not wait')
  test.neighbours.isIdentityUnavailable = false
  t.equal((await pushed()).length, 1)
  const { dropped_count: dropped } = await db.selectFrom('producers').where('id', '=', id).select('dropped_count')
    .executeTakeFirstOrThrow()
  t.equal(Number(dropped), 2)
  t.equal((await storedRows())?.['events'], 0)
})

t.test('what is refused leaves nothing behind', async (t) => {
  const { id, key } = await producer(['booking.confirmed'])
  const ana = await test.person('Ana')
  const good = event('booking.confirmed', yoga(ana))
  const before = await storedRows()
  const refusals: [name: string, answer: Promise<{ status: number, code?: string, results?: object[] }>, object][] = [
    ['no key', post(undefined, good), { status: 401, code: 'UNAUTHORIZED' }],
    ['a forged key', post(`tp_live_${'a'.repeat(43)}`, good), { status: 401, code: 'UNAUTHORIZED' }],
    ['a key of another form', post('secret', good), { status: 401 }],
    ['101 events', post(key, Array.from({ length: 101 }, () => good)), { status: 413, code: 'PAYLOAD_TOO_LARGE' }],
    ['more than 256 KiB', post(key, { ...good, more: 'x'.repeat(256 * 1024) }), { status: 413 }],
    ['no events', post(key, []), { status: 400, code: 'VALIDATION_ERROR' }],
    ['no JSON', post(key, '{'), { status: 400, code: 'VALIDATION_ERROR' }],
    ['a form', post(key, 'a=b', 'application/x-www-form-urlencoded'), { status: 415 }],
    ['another type', post(key, event('booking.cancelled', { accountId: ana, bookingId: 'B-1' })), {
      status: 400,
      results: [{ status: 'rejected', code: 'FORBIDDEN', field: 'type' }]
    }]
  ]
  const invalid: [field: string, value: unknown][] = [
    ['type', event('booking.moved', {})],
    ['specversion', { ...good, specversion: '0.3' }],
    ['time', { ...good, time: 'yesterday' }],
    ['id', { ...good, id: '' }],
    ['data', { ...good, data: 'Yoga' }],
    ['data.accountId', { ...good, data: yoga('nobody') }],
    ['data.accountId', { ...good, data: yoga(ana, { accountToken: ana }) }],
    ['data.title', { ...good, data: yoga(ana, { title: 'x'.repeat(201) }) }],
    ['data.endsAt', { ...good, data: yoga(ana, { endsAt: inHours(23) }) }],
    ['data.startsAt', { ...good, data: yoga(ana, { startsAt: '0000-01-01T00:00:00Z' }) }],
    ['time', { ...good, time: '9999-12-31T23:59:59-23:59' }],
    ['data.text.en.body', {
      ...good,
      data: yoga(ana, { text: { en: { title: 'Hi', body: 'Pay at evil.example now' } } })
    }],
    ['data.text.en.title', {
      ...good,
      data: yoga(ana, { text: { en: { title: 'http://api.example', body: 'Hi' } } })
    }],
    ['', { ...good, data: yoga(ana, { title: 'a\0b' }) }]
  ]
  for (const [field, value] of invalid) {
    refusals.push([field, post(key, value as object), {
      status: 400,
      code: 'VALIDATION_ERROR',
      results: [{ status: 'rejected', code: 'VALIDATION_ERROR', field, error: String }]
    }])
  }
  for (const [name, answer, expected] of refusals) t.match(await answer, expected, name)
  await revokeProducer(db, id)
  t.match(await post(key, good), { status: 401, code: 'UNAUTHORIZED' })
  t.same(await storedRows(), before)
})

t.test('an invalid event prevents no other one', async (t) => {
  const { key } = await producer()
  const ana = await test.person('Ana')
  t.match(await post(key, [event('booking.moved', {}), event('booking.confirmed', yoga(ana)), 'x']), {
    status: 202,
    data: { results: [{ status: 'rejected', field: 'type' }, { status: 'accepted' }, { id: null, status: 'rejected' }] }
  })
})

t.test('a producer sends at most what its rate allows, from several connections together', async (t) => {
  const { key } = await producer(producerEventTypes, 1)
  const ana = await test.person('Ana')
  const batch = () => Array.from({ length: 25 }, () => event('booking.confirmed', yoga(ana)))
  const answers = await Promise.all(Array.from({ length: 10 }, async () => await post(key, batch())))
  t.equal(answers.filter(({ status }) => status === 202).length, 4, 'a full batch, and nothing more')
  t.match(answers.find(({ status }) => status !== 202), { status: 429, code: 'RATE_LIMITED' })
})

t.test('an event that fails is postponed, and the others are handled', async (t) => {
  const { key } = await producer()
  const [ana, ben] = [await test.person('Ana'), await test.person('Ben')]
  for (const each of [ana, ben]) await test.device(each)
  await sql`alter table bookings add constraint broken check (account_id <> ${sql.lit(ana)})`.execute(db)
  await post(key, [event('booking.confirmed', yoga(ana)), event('booking.confirmed', yoga(ben))])
  t.equal((await pushed()).length, 1)
  await sql`alter table bookings drop constraint broken`.execute(db)
  t.same(await pushed(), [], 'not before it is due again')
  test.clock.now = () => new Date(inHours(0.1))
  t.equal((await pushed()).length, 1)
})

t.test('administrators add a producer, rotate its key, and end it', async (t) => {
  const operate = async (method: 'GET' | 'POST', path: string, payload?: object) => {
    const response = await app.inject({
      method,
      url: `/operator/producers${path}`,
      headers: operatorBearer(),
      ...payload && { payload }
    })
    return { status: response.statusCode, ...response.json() }
  }
  const name = `p-${randomUUID().slice(0, 8)}`
  const { status, data: { id, key: first } } = await operate('POST', '', { name, eventTypes: ['booking.confirmed'] })
  t.equal(status, 201)
  t.match(first, /^tp_live_[\w-]{43}$/)
  t.match(await operate('POST', '', { name, eventTypes: ['booking.confirmed'] }), { status: 409 })
  t.match(await operate('POST', '', { name: 'No Name', eventTypes: ['booking.confirmed'] }), { status: 400 })
  const ana = await test.person('Ana')
  const send = async (key: string) => (await post(key, event('booking.confirmed', yoga(ana)))).status
  t.equal(await send(first), 202)

  const { data: { key: lost } } = await operate('POST', `/${id}/rotate`)
  const { data: { key: second } } = await operate('POST', `/${id}/rotate`)
  t.same([await send(first), await send(lost)], [202, 401], 'the key in use outlives a form that is sent again')
  t.same([await send(first), await send(second)], [202, 202], 'two keys are valid')
  const { data: { key: third } } = await operate('POST', `/${id}/rotate`)
  t.same([await send(first), await send(second), await send(third)], [401, 202, 202])
  await operate('POST', `/${id}/revoke-old-key`)
  t.same([await send(second), await send(third)], [401, 202])

  const { data: { producers } } = await operate('GET', '')
  const shown = producers.find((each: { id: string }) => each.id === id)
  t.match(shown, {
    name,
    eventsPerSecond: 50,
    revokedAt: null,
    lastUsedAt: String,
    keys: [{ hint: third.slice(-4), isRevoked: false }, ...Array(3).fill({ isRevoked: true })]
  })
  t.notMatch(JSON.stringify(producers), new RegExp([first, lost, second, third].join('|')))
  t.match(await operate('POST', `/${id}/revoke`), { status: 200 })
  t.match(await operate('POST', `/${id}/revoke`), { status: 404 })
  t.equal(await send(third), 401)
  t.match(await operate('POST', '', { name, eventTypes: ['booking.confirmed'] }), { status: 201 }, 'the name is free')
})
