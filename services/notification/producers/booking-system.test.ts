import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { producerEventTypes } from '@tandem/contracts'
import { silentLog, testKeys } from '@tandem/http-kit/testing'
import { seededRandom, until } from '@tandem/test-kit'
import { sql } from 'kysely'
import t from 'tap'
import { createApp } from '../app.ts'
import { createPushSender } from '../push/sender.ts'
import { testApp } from '../test/app.ts'
import { addProducer, revokeProducer } from './actions.ts'
import { startProducerEvents } from './handle.ts'

const BOOKINGS = 1_000
const PEOPLE = 50
const test = await testApp(t)
const { db } = test

/** A process of the service, as far as producers see it: it listens, and handles events. */
async function startReplica () {
  const deps = { ...test.deps, arrivals: new EventEmitter() }
  const app = await createApp(deps, { log: silentLog, keys: testKeys })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const stop = startProducerEvents(deps, silentLog)
  t.teardown(async () => {
    await stop()
    await app.close()
  })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}
const urls = [await startReplica(), await startReplica()]

async function sendFromBookingSystem (key: string, events: object[]) {
  const system = fork(new URL('../test/booking-process.ts', import.meta.url))
  t.teardown(() => system.kill('SIGKILL'))
  system.send({ urls, key, events })
  const [counts] = await once(system, 'message') as [Record<string, number>]
  return counts
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

function eventOf (kind: 'confirmed' | 'reminder' | 'cancelled', number: number, accountId: string) {
  const bookingId = `B-${number}`
  const details = { title: `Class ${number}`, startsAt: inHours(5), endsAt: inHours(6) }
  return {
    specversion: '1.0',
    id: `${kind}-${number}`,
    source: 'https://bookings.example',
    type: `booking.${kind}`,
    time: new Date().toISOString(),
    data: { accountId, bookingId, ...kind !== 'cancelled' && details }
  }
}

const waiting = async () =>
  (await sql<{ count: number }>`select count(*)::int as count from producer_events`.execute(db)).rows[0]?.count

t.test(
  'a booking system sends 1,000 bookings twice and in any order: the pushes are exact',
  async (t) => {
    const random = seededRandom(t)
    const { key } = await addProducer(db, { name: 'booking', eventTypes: producerEventTypes, eventsPerSecond: 10_000 })
    const people: string[] = []
    for (let number = 0; number < PEOPLE; number++) {
      const person = await test.person(`P${number}`)
      await test.device(person)
      people.push(person)
    }
    const bookings = Array.from({ length: BOOKINGS }, (_, number) => ({ number, person: people[number % PEOPLE]! }))
    const eventsOf = (kind: Parameters<typeof eventOf>[0], some: typeof bookings) =>
      some.map(({ number, person }) => eventOf(kind, number, person))
    // Every tenth is cancelled before it is confirmed, and the ones after these after their notification.
    const [early, late] = [0, 1].map((rest) => bookings.filter(({ number }) => number % 10 === rest)) as [
      typeof bookings,
      typeof bookings
    ]

    t.same(await sendFromBookingSystem(key, eventsOf('cancelled', early)), { accepted: early.length })
    const told = [...eventsOf('confirmed', bookings), ...eventsOf('reminder', bookings)]
    const shuffled = [...told, ...told].map((event) => ({ event, at: random() })).sort((one, other) =>
      one.at - other.at
    )
    t.same(await sendFromBookingSystem(key, shuffled.map(({ event }) => event)), {
      accepted: told.length,
      repeated: told.length
    })
    await until(async () => await waiting() === 0, 200)

    const send = createPushSender({ ...test.deps, provider: test.provider, log: silentLog })
    await Promise.all(test.pushes.enqueued.splice(0).map(async ({ id }) => await send(id)))
    const pushed = test.provider.sent.splice(0).map(({ title, body }) => `${title} ${/Class \d+/.exec(body)?.[0]}`)
    const expected = bookings.filter(({ number }) => number % 10 !== 0)
      .flatMap(({ number }) => ['Booking confirmed', 'Booking reminder'].map((title) => `${title} Class ${number}`))
    t.strictSame(pushed.sort(), expected.sort())

    t.same(await sendFromBookingSystem(key, [...eventsOf('cancelled', late), ...eventsOf('confirmed', late)]), {
      accepted: late.length,
      repeated: late.length
    })
    await until(async () => await waiting() === 0, 200)
    const { rows: [left] } = await sql<{ shown: number, published: number }>`
    select (select count(*) from notifications where listed and removed_at is null)::int as shown,
      (select count(distinct subject) from outbox where data ->> 'isCancelled' = 'true')::int as published`.execute(db)
    t.same(left, { shown: 2 * (BOOKINGS - early.length - late.length), published: late.length })
  }
)

t.test('a leaked key is useless within a second of its end, on every replica', async (t) => {
  const { id, key } = await addProducer(db, {
    name: 'leaked',
    eventTypes: ['admin.announcement'],
    eventsPerSecond: 10_000
  })
  const accepted = urls.map(() => 0)
  let isOver = false
  const thieves = urls.map(async (url, replica) => {
    while (!isOver) {
      const startedAt = Date.now()
      const response = await fetch(`${url}/producers/events`, {
        method: 'POST',
        headers: { 'authorization': `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          specversion: '1.0',
          id: randomUUID(),
          source: 'https://thief.example',
          type: 'admin.announcement',
          time: new Date().toISOString(),
          data: { accountIds: [randomUUID()], text: { en: { title: 'Hi', body: 'Hi' } } }
        })
      })
      if (response.status === 202) accepted[replica] = startedAt
      await sleep(10)
    }
  })
  await until(async () => accepted.every((at) => at > 0))
  await revokeProducer(db, id)
  const revokedAt = Date.now()
  await sleep(1_000)
  isOver = true
  await Promise.all(thieves)
  for (const at of accepted) t.ok(at <= revokedAt, `the last accepted request began ${at - revokedAt} ms after the end`)
})
