import { sql } from 'kysely'
import { register } from 'prom-client'
import t from 'tap'
import { until } from '@tandem/test-kit'
import { effects, haveEffects, recordEffect, publishMany, untilPublished, testBus } from './test-bus.ts'

async function read (name: string, labels: Record<string, string> = {}) {
  const metric = await register.getSingleMetric(name)?.get()
  return metric?.values.find((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))
    ?.value
}

t.test('metrics show the outbox, published and handled events, and dead letters', async (t) => {
  const { db, nats, publisher, consumer } = await testBus(t)
  await nats.stop()
  const alpha = publisher()
  alpha.relay()
  await publishMany(db, 3)
  t.equal(await read('bus_outbox_waiting', { service: 'alpha' }), 3)
  t.ok((await read('bus_outbox_oldest_seconds', { service: 'alpha' }) ?? 0) > 0)

  consumer().consume(async (received) => {
    if (received.data.number === 1) throw new Error('not this one')
    await recordEffect(db, received)
  })
  await nats.start()
  await until(haveEffects(db, 2))
  await untilPublished(db)
  await until(async () => await read('bus_events_handled_total', { outcome: 'failed' }) === 1)
  t.strictSame(await effects(db), [0, 2])
  const type = 'alpha.thing.happened.v1'
  t.equal(await read('bus_outbox_waiting', { service: 'alpha' }), 0)
  t.equal(await read('bus_outbox_oldest_seconds', { service: 'alpha' }), 0)
  t.equal(await read('bus_events_published_total', { type, outcome: 'published' }), 3)
  t.equal(await read('bus_events_handled_total', { type, outcome: 'done' }), 2)
  await until(async () => await read('bus_consumer_lag', { service: 'beta', from: 'alpha' }) === 0)
  t.equal(await read('bus_dead_letters', { service: 'beta' }), 0)
  t.match(await register.metrics(), /bus_event_handling_seconds_count\{type="alpha\.thing\.happened\.v1"\} \d/)

  await alpha.close()
  t.equal(await read('bus_outbox_waiting', { service: 'alpha' }), undefined, 'a stopped relay is no longer measured')
})

t.test('the lag of a consumer is read from the broker, so that a stuck one shows', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  consumer().consume(async (received) => {
    await held
    await recordEffect(db, received)
  })
  const labels = { service: 'beta', from: 'alpha' }
  await publishMany(db, 3)
  await until(async () => await read('bus_consumer_lag', labels) === 3)
  const acknowledged = await read('bus_consumer_acknowledged_seq', labels)

  release()
  await until(async () => await read('bus_consumer_lag', labels) === 0)
  t.ok((await read('bus_consumer_acknowledged_seq', labels) ?? 0) >= (acknowledged ?? 0) + 3)
})

t.test('of a long outbox, only the first events are counted', async (t) => {
  const { db, publisher, nats } = await testBus(t)
  await nats.stop()
  await sql`
    insert into outbox (type, subject, data)
    select 'alpha.thing.happened.v1', 'thing', '{}' from generate_series(1, 100_100)`.execute(db)
  publisher().relay()
  t.equal(await read('bus_outbox_waiting', { service: 'alpha' }), 100_001)
})
