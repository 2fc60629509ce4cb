import { connect } from 'nats'
import t, { type Test } from 'tap'
import { startNats, until } from '@tandem/test-kit'
import { checkStream, connectBus, parseNatsUrl, startStreamManager, STREAM_MANAGER_USER } from './index.ts'
import { log } from './test-bus.ts'

const services = ['alpha', 'beta', 'gamma']

/** A broker with room for 300 MB, as on a disk that is nearly full. */
async function testBroker (t: Test) {
  const users = ['operator', STREAM_MANAGER_USER, ...services].map((user) =>
    `{ user: ${user}, password: $NATS_${user.toUpperCase()}_PASSWORD }`
  )
  const nats = await startNats(t, {
    rights: `accounts { TANDEM { jetstream { max_file: 300000000 }, users: [${users.join(', ')}] } }`
  })
  const join = (service: string) => {
    const bus = connectBus(nats.urlOf(service), { service, log })
    t.teardown(() => bus.close())
    return bus
  }
  const checks = Object.assign({}, ...services.map((service) => checkStream(join(service)))) as ReturnType<
    typeof checkStream
  >
  const listMissing = async () =>
    (await Promise.all(
      Object.entries(checks).map(async ([name, { check }]) => await check().then(() => [], () => [name]))
    )).flat()
  // Connected.
  await until(async () => (await listMissing()).length === 3)
  return { nats, join, checks, listMissing }
}

t.test('streams that do not fit the disk of NATS are named, and fit it if they are smaller', async (t) => {
  const { join, checks, listMissing } = await testBroker(t)
  const bus = join(STREAM_MANAGER_USER)
  const large = startStreamManager(bus, services)
  await until(async () => (await listMissing()).length === 2)
  const [missing = ''] = await listMissing()
  t.ok(checks[missing]?.required, 'so its service is not ready')
  await t.rejects(checks[missing]?.check() ?? Promise.resolve(), {
    message: `NATS has no usable stream ${missing}, so events wait (NatsError: stream not found)`
  })
  await large.stop()

  const small = startStreamManager(bus, services, { maxMib: 8 })
  t.teardown(() => small.stop())
  await until(async () => (await listMissing()).length === 0)
})

t.test('a stream that is lost later is named, and the service goes on', async (t) => {
  const { nats, join, checks, listMissing } = await testBroker(t)
  const manager = startStreamManager(join(STREAM_MANAGER_USER), services, { maxMib: 8 })
  await until(async () => (await listMissing()).length === 0)
  await manager.stop()
  const operator = await connect(parseNatsUrl(nats.url))
  t.teardown(() => operator.close())
  await (await operator.jetstreamManager()).streams.delete('EVENTS_ALPHA')
  t.same(await listMissing(), ['EVENTS_ALPHA'])
  t.notOk(checks['EVENTS_ALPHA']?.required)
  await nats.kill()
  await until(async () => (await listMissing()).length === 0)
})
