import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  handleRpc,
  createRpcClient,
  connectBus,
  parseNatsUrl,
  on,
  publish,
  startRpcHandlers,
  startConsumers,
  startRelay,
  type FailedMessageTables,
  type ProcessedEventTables,
  type OutboxTables
} from '@tandem/bus-kit'
import { AccountVerified, Contact, defineEvent, SigningKeys } from '@tandem/contracts'
import { testDatabase } from '@tandem/database-kit/testing'
import { until } from '@tandem/test-kit'
import { connect, type Msg, type NatsConnection } from 'nats'
import t, { type Test } from 'tap'
import { describeRights, rightsFile } from './rights.ts'
import { quiet, root, startSystemNats } from './testing.ts'

type Tables = OutboxTables & ProcessedEventTables & FailedMessageTables

// Each service here is one whose container was captured: it has the service's password, and speaks NATS as it likes.

interface Captured {
  nats: NatsConnection
  /** Publishes, and returns whether NATS allowed it. */
  publish: (subject: string, payload?: object, reply?: string) => Promise<boolean>
  /** Subscribes, and returns whether NATS allowed it; messages are in `received`. */
  subscribe: (subject: string) => Promise<boolean>
  received: Msg[]
}

async function capture (t: Test, url: string): Promise<Captured> {
  const nats = await connect(parseNatsUrl(url))
  t.teardown(() => nats.close())
  const refusals = new Set<string>()
  void (async () => {
    for await (const status of nats.status()) {
      const { permissionContext } = status as { permissionContext?: { operation: string, subject: string } }
      if (permissionContext) refusals.add(`${permissionContext.operation} ${permissionContext.subject}`)
    }
  })()
  const received: Msg[] = []
  // NATS reports a permission error before it responds to the ping of a flush; the client emits it a tick later.
  const isAllowed = async (attempt: string) => {
    await nats.flush()
    await sleep(20)
    return !refusals.has(attempt)
  }
  return {
    nats,
    received,
    async publish (subject, payload = {}, reply) {
      nats.publish(subject, JSON.stringify(payload), reply === undefined ? {} : { reply })
      return await isAllowed(`publish ${subject}`)
    },
    async subscribe (subject) {
      nats.subscribe(subject, {
        callback: (error, message) => {
          if (!error) received.push(message)
        }
      })
      return await isAllowed(`subscription ${subject}`)
    }
  }
}

/** NATS with identity at work: it publishes one event, and provides RPCs. */
async function world (t: Test) {
  const server = await startSystemNats(t)
  const join = (service: string, name = service) => {
    const bus = connectBus(server.urlOf(service), { service: name, log: quiet })
    t.teardown(() => bus.close())
    return bus
  }
  const { db } = await testDatabase<Tables>(t, import.meta.dirname)
  const identity = join('identity')
  const relay = startRelay(identity, db)
  t.teardown(() => relay.stop())
  startRpcHandlers(identity, [
    handleRpc(Contact, async () => ({ email: 'a@example.com', emailVerified: true, name: 'Ana', locale: 'en' })),
    handleRpc(SigningKeys, async () => 'signed keys')
  ])
  const say = async () => {
    const accountId = crypto.randomUUID()
    await db.transaction().execute(async (trx) => await publish(trx, AccountVerified, accountId, { accountId }))
    await until(async () =>
      await db.selectFrom('outbox').select('id').where('published_at', 'is', null).executeTakeFirst() === undefined
    )
    return accountId
  }
  const operator = await connect(parseNatsUrl(server.url))
  t.teardown(() => operator.close())
  const stored = async (stream: string) =>
    (await (await operator.jetstreamManager()).streams.info(stream)).state.messages
  return {
    server,
    db,
    join,
    say,
    operator,
    stored,
    capture: async (service: string) => await capture(t, server.urlOf(service))
  }
}

t.test('the rights of containers and clusters are what the services declare', (t) => {
  t.equal(
    readFileSync(rightsFile, 'utf8'),
    describeRights(root),
    'up to date; else run `node deploy/nats/write-rights.ts`'
  )
  t.end()
})

t.test('with its rights a service publishes, consumes, calls and provides', async (t) => {
  const { join, say } = await world(t)
  const { db } = await testDatabase<Tables>(t, import.meta.dirname)
  const notification = join('notification')
  const received: string[] = []
  const consumers = startConsumers(notification, db, [on(AccountVerified, async ({ data }) => {
    received.push(data.accountId)
  })])
  t.teardown(() => consumers.stop())
  const accountId = await say()
  await until(() => received.length > 0)
  t.same(received, [accountId])
  t.match(await createRpcClient(notification)(Contact, { accountId }, { timeoutMs: 5_000 }), { name: 'Ana' })
})

t.test("no service can publish another service's events", async (t) => {
  const { say, db, join, stored, capture } = await world(t)
  await say()
  const social = await capture('social')
  t.notOk(await social.publish('evt.identity.account.verified.v1', { accountId: crypto.randomUUID() }))

  // With all that the kit does, its own check apart.
  const event = defineEvent('identity.account.verified.v1', AccountVerified.data)
  const forged = startRelay(join('social', 'identity'), db)
  t.teardown(() => forged.stop())
  await db.transaction().execute(async (trx) => await publish(trx, event, 'forged', { accountId: crypto.randomUUID() }))
  await until(async () => await stored('EVENTS_IDENTITY') === 2)
  t.equal(await stored('EVENTS_IDENTITY'), 2, "only identity's own relay got it there")
})

t.test('no service can respond for another one', async (t) => {
  const { capture, join } = await world(t)
  const [dashboard, fitmatch, identity] = [
    await capture('dashboard'),
    await capture('fitmatch'),
    await capture('identity')
  ]
  const inbox = '_INBOX_fitmatch.identity.1'
  t.ok(await fitmatch.subscribe(inbox))
  t.notOk(await dashboard.publish(inbox, [{ kid: 'mine' }]), 'not even who has learnt the inbox')
  t.notOk(await dashboard.publish('_INBOX_fitmatch.>'))
  t.ok(await dashboard.publish('_INBOX_fitmatch.dashboard.1', {}), 'only to its own calls')
  t.ok(await identity.publish(inbox, []), 'the provider can')
  await until(() => fitmatch.received.length > 0)
  t.same(fitmatch.received.map((message) => message.json()), [[]])

  t.notOk(await dashboard.subscribe('_INBOX_fitmatch.>'), 'nor can it read the responses to another service')
  t.notOk(await dashboard.subscribe('ask.identity.signing-keys.v1.*'), "or receive another service's calls")
  t.notOk(await dashboard.publish('ask.identity.membership.v1.dashboard', {}), 'or call what it does not declare')
  t.notOk(await dashboard.publish('ask.identity.signing-keys.v1.fitmatch', {}), 'or call as another service')
  const client = join('fitmatch')
  await until(() => client.current() !== undefined)
  t.equal(await createRpcClient(client)(SigningKeys, {}, { timeoutMs: 5_000 }), 'signed keys')
})

t.test('an answer goes where its caller gets answers, and nowhere else', async (t) => {
  const { capture, say, stored } = await world(t)
  await say()
  const [dashboard, fitmatch] = [await capture('dashboard'), await capture('fitmatch')]
  await fitmatch.subscribe('_INBOX_fitmatch.>')
  await dashboard.subscribe('_INBOX_dashboard.>')
  const ask = 'ask.identity.contact.v1.dashboard'
  const request = { accountId: crypto.randomUUID() }
  for (
    const reply of [
      'evt.identity.account.verified.v1',
      '_INBOX_fitmatch.identity.1',
      '_INBOX_dashboard.profile.1',
      '$JS.API.STREAM.PURGE.EVENTS_IDENTITY'
    ]
  ) {
    t.ok(await dashboard.publish(ask, request, reply), 'NATS does not check the reply subject')
  }
  await dashboard.publish(ask, request, '_INBOX_dashboard.identity.1')
  await until(() => dashboard.received.length > 0)
  t.match(dashboard.received.map((message) => message.json()), [{ name: 'Ana' }])
  t.same(fitmatch.received, [])
  t.equal(await stored('EVENTS_IDENTITY'), 1, 'identity publishes none of its answers as its own event')
})

t.test('what the broker itself answers is no event, wherever it is wanted', async (t) => {
  const { capture, say, join } = await world(t)
  const { db } = await testDatabase<Tables>(t, import.meta.dirname)
  const received: string[] = []
  const consumers = startConsumers(join('notification'), db, [on(AccountVerified, async ({ data }) => {
    received.push(data.accountId)
  })])
  t.teardown(() => consumers.stop())
  const social = await capture('social')
  const place = 'evt.identity.account.verified.v1'
  t.ok(await social.publish('evt.social.thing.happened.v1', { accountId: crypto.randomUUID() }, place))
  t.ok(await social.publish('$JS.API.STREAM.INFO.EVENTS_SOCIAL', {}, place))
  const accountId = await say()
  await until(() => received.length > 0)
  t.same(received, [accountId])
  await until(async () =>
    (await db.selectFrom('failed_messages').select('key').where('parked_at', 'is not', null).execute()).length === 2
  )
})

t.test('no service can read a stream that it does not consume', async (t) => {
  const { capture, say, operator } = await world(t)
  await say()
  const social = await capture('social')
  const consumer = {
    stream_name: 'EVENTS_DASHBOARD',
    config: { durable_name: 'social', name: 'social', ack_policy: 'explicit' }
  }
  for (
    const subject of [
      '$JS.API.CONSUMER.CREATE.EVENTS_DASHBOARD',
      '$JS.API.CONSUMER.CREATE.EVENTS_DASHBOARD.social',
      '$JS.API.CONSUMER.CREATE.EVENTS_DASHBOARD.social.evt.dashboard.>',
      '$JS.API.CONSUMER.DURABLE.CREATE.EVENTS_DASHBOARD.social',
      '$JS.API.CONSUMER.MSG.NEXT.EVENTS_DASHBOARD.notification',
      '$JS.API.STREAM.MSG.GET.EVENTS_DASHBOARD',
      '$JS.API.DIRECT.GET.EVENTS_DASHBOARD',
      '$JS.API.STREAM.SNAPSHOT.EVENTS_DASHBOARD',
      '$JS.API.STREAM.INFO.EVENTS_DASHBOARD',
      '$JS.API.CONSUMER.LIST.EVENTS_DASHBOARD',
      '$JS.API.CONSUMER.CREATE.EVENTS_PROFILE.fitmatch.evt.profile.>',
      '$JS.API.CONSUMER.MSG.NEXT.EVENTS_PROFILE.fitmatch',
      '$JS.ACK.EVENTS_PROFILE.fitmatch.1.1.1.1.1'
    ]
  ) t.notOk(await social.publish(subject, consumer), subject)
  for (const subject of ['evt.identity.>', 'evt.>', '>', '_INBOX_identity.>', '_INBOX.>', '$JS.>']) {
    t.notOk(await social.subscribe(subject), subject)
  }
  const consumers = await (await operator.jetstreamManager()).consumers.list('EVENTS_DASHBOARD').next()
  t.same(consumers.map(({ name }) => name), [])
})

t.test('a service makes, changes, empties and deletes no stream and no consumer, not even its own', async (t) => {
  const { capture, operator } = await world(t)
  const manager = await operator.jetstreamManager()
  await manager.streams.delete('EVENTS_SOCIAL')
  const social = await capture('social')
  const config = {
    name: 'EVENTS_SOCIAL',
    subjects: ['evt.social.>'],
    republish: { src: 'evt.social.>', dest: 'evt.identity.account.verified.v1' }
  }
  for (
    const [subject, payload] of [
      ['$JS.API.STREAM.CREATE.EVENTS_SOCIAL', config],
      ['$JS.API.STREAM.CREATE.EVENTS_SOCIAL', { ...config, republish: undefined, subjects: ['ask.>'] }],
      ['$JS.API.STREAM.CREATE.MIRROR', { name: 'MIRROR', mirror: { name: 'EVENTS_IDENTITY' } }],
      ['$JS.API.STREAM.CREATE.SOURCES', { name: 'SOURCES', sources: [{ name: 'EVENTS_IDENTITY' }] }],
      ['$JS.API.STREAM.UPDATE.EVENTS_SOCIAL', config],
      ['$JS.API.STREAM.RESTORE.EVENTS_SOCIAL', config],
      ['$JS.API.STREAM.PURGE.EVENTS_SOCIAL', {}],
      ['$JS.API.STREAM.PURGE.EVENTS_IDENTITY', {}],
      ['$JS.API.STREAM.DELETE.EVENTS_SOCIAL', {}],
      ['$JS.API.STREAM.DELETE.EVENTS_IDENTITY', {}],
      ['$JS.API.STREAM.MSG.DELETE.EVENTS_SOCIAL', { seq: 1 }],
      ['$JS.API.CONSUMER.DELETE.EVENTS_PROFILE.social', {}],
      ['$JS.API.CONSUMER.DELETE.EVENTS_SOCIAL.notification', {}]
    ] as const
  ) t.notOk(await social.publish(subject, payload), subject)

  await until(async () => await manager.streams.info('EVENTS_SOCIAL').then(() => true, () => false))
  const { config: made } = await manager.streams.info('EVENTS_SOCIAL')
  t.match(made, { subjects: ['evt.social.>'], deny_delete: true })
  t.notOk(made.republish, 'the keeper made it again, as it should be')
})

t.test('the keeper of the streams reads and publishes nothing', async (t) => {
  const { capture, say } = await world(t)
  await say()
  const keeper = await capture('streams')
  for (
    const subject of [
      'evt.identity.account.verified.v1',
      'ask.identity.contact.v1.streams',
      '$JS.API.STREAM.UPDATE.EVENTS_IDENTITY',
      '$JS.API.STREAM.DELETE.EVENTS_IDENTITY',
      '$JS.API.STREAM.CREATE.OTHER',
      '$JS.API.CONSUMER.CREATE.EVENTS_IDENTITY',
      '$JS.API.STREAM.MSG.GET.EVENTS_IDENTITY'
    ]
  ) t.notOk(await keeper.publish(subject), subject)
  t.notOk(await keeper.subscribe('evt.>'))
})

t.test('only the services that send realtime signals can, and gateways can do nothing but receive them', async (t) => {
  const { capture } = await world(t)
  const gateway = await capture('gateway')
  t.ok(await gateway.subscribe('realtime.*'))
  const social = await capture('social')
  for (const service of ['social', 'notification', 'fitmatch']) t.notOk(await social.publish(`realtime.${service}`))
  t.notOk(await social.subscribe('realtime.*'))
  const fitmatch = await capture('fitmatch')
  t.notOk(await fitmatch.publish('realtime.notification'), 'a signal in the name of another service')
  t.ok(await fitmatch.publish('realtime.fitmatch', { to: crypto.randomUUID() }))
  const dashboard = await capture('dashboard')
  t.notOk(await dashboard.publish('realtime.fitmatch'))
  t.ok(await dashboard.publish('realtime.dashboard', { to: crypto.randomUUID() }))
  await until(() => gateway.received.length > 1)
  t.equal(gateway.received.length, 2)
  for (const subject of ['evt.>', 'ask.>', '$JS.API.>', '>']) t.notOk(await gateway.subscribe(subject), subject)
  for (const subject of ['realtime.notification', 'evt.social.post.liked.v1', 'ask.identity.contact.v1.gateway']) {
    t.notOk(await gateway.publish(subject), subject)
  }
})
