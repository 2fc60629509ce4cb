// It waits for timeouts, retries and leases.
import { fork } from 'node:child_process'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { sql } from 'kysely'
import t from 'tap'
import { silentLog } from '@tandem/http-kit/testing'
import { recordedEvents } from '@tandem/bus-kit/testing'
import { startRedis, until, type Teardown } from '@tandem/test-kit'
import { testApp } from '../test/app.ts'
import { startReceiver } from '../test/webhook-receiver.ts'
import { createWebhook } from './actions.ts'
import { addEndpoint, replay } from './operators.ts'
import { createPoster, isPublic } from './poster.ts'
import { createWebhookQueue } from './queue.ts'

const { db, url: databaseUrl } = await testApp(t)
const redis = await startRedis(t)
const webhookPrivateHosts = new Set(['127.0.0.1'])

async function openQueue (
  t: Teardown,
  { prefix = randomUUIDv7(), ...sweeps }: {
    prefix?: string,
    sweepIntervalSeconds?: number,
    sweepMinAgeSeconds?: number
  } = {}
) {
  const queue = createWebhookQueue({
    db,
    poster: createPoster({ privateHosts: webhookPrivateHosts }),
    redisUrl: redis.url,
    log: silentLog,
    prefix,
    retryDelaysMs: [200],
    sweepIntervalSeconds: 1,
    sweepMinAgeSeconds: 1,
    ...sweeps
  })
  queue.start()
  t.teardown(() => queue.close())
  return queue
}

/** An endpoint for a type of its own, so that tests do not send to each other's. */
async function addReceiver (t: Teardown) {
  const receiver = await startReceiver(t)
  const { id, secret } = await addEndpoint({ db, webhookPrivateHosts }, {
    url: receiver.url,
    eventTypes: ['account.verified']
  })
  receiver.trust(secret)
  t.teardown(() => db.deleteFrom('webhook_endpoints').where('id', '=', id).execute())
  return { ...receiver, id }
}

/** Creates webhooks without enqueueing them. @returns their ids and those of their deliveries */
async function createWebhooks (count: number, accountId?: string) {
  const ids: string[] = []
  const deliveries: string[] = []
  for (let each = 0; each < count; each++) {
    const id = randomUUIDv7()
    ids.push(id)
    const about = accountId ?? randomUUID()
    deliveries.push(
      ...await db.transaction().execute(async (trx) =>
        await createWebhook(trx, {
          id,
          type: 'account.verified',
          accountId: about,
          data: { accountId: about },
          occurredAt: new Date()
        })
      )
    )
  }
  return { ids, deliveries }
}

const deliveriesTo = async (endpointId: string) =>
  await db.selectFrom('webhook_deliveries').where('endpoint_id', '=', endpointId).selectAll().orderBy('id').execute()

const isDone = async (endpointId: string) => (await deliveriesTo(endpointId)).every(({ status }) => status === 'sent')

t.test('a receiver verifies each webhook, and those of an account arrive in their order', async (t) => {
  const receiver = await addReceiver(t)
  const queue = await openQueue(t)
  const { ids, deliveries } = await createWebhooks(25, randomUUID())
  await queue.enqueue(deliveries)
  await until(() => receiver.received.length === 25)
  t.same(receiver.received.map(({ id }) => id), ids)
  t.equal(receiver.refused(), 0)
  t.match(receiver.received[0], { type: 'account.verified', data: { accountId: /./ }, timestamp: /Z$/ })
  await until(async () => await isDone(receiver.id))
})

t.test('those of an account arrive in their order from several processes, too', async (t) => {
  const receiver = await addReceiver(t)
  receiver.answerWith((response) => setTimeout(() => response.writeHead(204).end(), 20 * Math.random()))
  const prefix = randomUUIDv7()
  const queues = [await openQueue(t, { prefix }), await openQueue(t, { prefix }), await openQueue(t, { prefix })]
  const accountId = randomUUID()
  const created: string[] = []
  for (let round = 0; round < 20; round++) {
    const { ids, deliveries } = await createWebhooks(3, accountId)
    created.push(...ids)
    await Promise.all(deliveries.map(async (id, number) => await queues[number]!.enqueue([id])))
  }
  await until(async () => await isDone(receiver.id))
  t.same(receiver.received.map(({ id }) => id), created)
})

t.test('a webhook that is signed with another secret is refused, and repeated', async (t) => {
  const receiver = await addReceiver(t)
  const queue = await openQueue(t)
  receiver.trust('whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')
  await queue.enqueue((await createWebhooks(1)).deliveries)
  await until(async () => (await deliveriesTo(receiver.id))[0]!.attempts >= 2)
  t.match(await deliveriesTo(receiver.id), [{ status: 'pending', response_status: 400, error: 'status 400' }])
  t.equal(receiver.received.length, 0)
})

t.test(
  'a receiver that fails, hangs up, is silent or redirects gets everything once it is well',
  async (t) => {
    const [receiver, inside] = [await addReceiver(t), await startReceiver(t)]
    const queue = await openQueue(t)
    const seen: string[] = []
    receiver.answerWith((response, { id }) => {
      if (!seen.includes(id)) seen.push(id)
      switch (seen.indexOf(id) % 4) {
        case 0:
          return response.writeHead(500).end()
        case 1:
          return response.destroy()
        case 2:
          return response.writeHead(302, { location: inside.url }).end()
        case 3:
          return
      }
    })
    const { ids, deliveries } = await createWebhooks(8)
    await queue.enqueue(deliveries)
    await until(async () => (await deliveriesTo(receiver.id)).every(({ error }) => error !== null))
    const errors = new Set((await deliveriesTo(receiver.id)).map(({ error }) => error))
    t.ok(errors.has('status 500'), [...errors].join())
    t.ok(errors.has('no answer within 5 s'))
    t.ok(errors.has('redirects are not followed'))
    t.equal(inside.connections(), 0)
    receiver.answerWith()
    await until(async () => await isDone(receiver.id))
    t.same(receiver.ids().sort(), ids.sort())
  }
)

t.test('an answer without an end is cut off, and counts', async (t) => {
  const receiver = await addReceiver(t)
  const queue = await openQueue(t)
  let written = 0
  receiver.answerWith((response) => {
    response.writeHead(200)
    const write = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384
      if (!response.destroyed) response.once('drain', write)
    }
    write()
  })
  await queue.enqueue((await createWebhooks(1)).deliveries)
  await until(async () => await isDone(receiver.id))
  t.ok(written < 16 * 1024 * 1024, `${written} bytes`)
})

t.test('one that dies delays no other', async (t) => {
  const live = await addReceiver(t)
  const queue = await openQueue(t, { sweepIntervalSeconds: 15, sweepMinAgeSeconds: 30 })
  /** The median latency of webhooks that come one after the other, in milliseconds. */
  async function measure () {
    const times: number[] = []
    for (let round = 0; round < 21; round++) {
      const { ids: [id], deliveries } = await createWebhooks(1)
      const startedAt = performance.now()
      await queue.enqueue(deliveries)
      await until(() => live.received.some((each) => each.id === id))
      times.push(performance.now() - startedAt)
    }
    return times.sort((a, b) => a - b)[10]!
  }
  const alone = await measure()
  const silent = await addReceiver(t)
  silent.answerWith(() => {})
  await queue.enqueue((await createWebhooks(100)).deliveries)
  await until(() => silent.received.length >= 10)
  const beside = await measure()
  const figures = `the median latency is ${alone.toFixed()} ms alone, and ${beside.toFixed()} ms beside a silent one`
  t.comment(figures)
  // One that waited for the silent one would take 5 s longer.
  t.ok(beside < alone + 2_500, figures)
  t.same((await deliveriesTo(silent.id)).filter(({ status }) => status !== 'pending').map(({ error }) => error), [])
})

t.test('what a killed process has claimed or not enqueued is sent by the next one', async (t) => {
  const receiver = await addReceiver(t)
  const prefix = randomUUIDv7()
  const start = () => {
    const child = fork(new URL('../test/posting-process.ts', import.meta.url), [databaseUrl, redis.url, prefix])
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }
  receiver.answerWith((response) => setTimeout(() => response.writeHead(204).end(), 100))
  // Between the row and its job: nothing enqueues it.
  const { ids } = await createWebhooks(40)
  const first = start()
  await until(() => receiver.received.length >= 10)
  first.kill('SIGKILL')
  await once(first, 'exit')
  t.notOk(await isDone(receiver.id), 'it was killed in the middle')
  await sql`update webhook_deliveries set claimed_until = now() where claimed_until is not null`.execute(db)
  start()
  await until(async () => await isDone(receiver.id))
  t.same(receiver.ids().sort(), ids.sort())
})

t.test('one that accepts nothing for three days is disabled, and operators are mailed', async (t) => {
  const receiver = await addReceiver(t)
  const queue = await openQueue(t)
  receiver.answerWith((response) => response.writeHead(503).end())
  const startedAt = new Date()
  const { deliveries } = await createWebhooks(2)
  await sql`update webhook_deliveries set queued_at = now() - interval '73 hours' where id = ${deliveries[0]}`
    .execute(db)
  await queue.enqueue(deliveries)
  await until(async () => (await deliveriesTo(receiver.id)).every(({ status }) => status === 'failed'))
  const events = (await recordedEvents(db)).filter(({ subject }) => subject === receiver.id)
  t.match(events, [{
    type: 'notification.webhook.disabled.v1',
    data: { endpointId: receiver.id, host: `127.0.0.1:${receiver.port}`, reason: 'status 503' }
  }])
  t.equal(events.length, 1)

  receiver.answerWith()
  await db.updateTable('webhook_endpoints').where('id', '=', receiver.id).set({ disabled_at: null }).execute()
  t.equal(await replay(db, { id: receiver.id, since: startedAt }), 2)
  await queue.enqueue([receiver.id])
  await until(async () => await isDone(receiver.id))
})

t.test('one that accepts other webhooks is not disabled', async (t) => {
  const receiver = await addReceiver(t)
  const queue = await openQueue(t)
  const refused = randomUUID()
  receiver.answerWith((response, { data }) => response.writeHead(data['accountId'] === refused ? 500 : 204).end())
  const { deliveries } = await createWebhooks(1, refused)
  await queue.enqueue([...deliveries, ...(await createWebhooks(1)).deliveries])
  await until(async () => (await deliveriesTo(receiver.id)).some(({ status }) => status === 'sent'))
  await sql`update webhook_deliveries set queued_at = now() - interval '73 hours' where id = ${deliveries[0]}`
    .execute(db)
  await until(async () => (await deliveriesTo(receiver.id))[0]!.status === 'failed')
  const endpoint = await db.selectFrom('webhook_endpoints').where('id', '=', receiver.id).select('disabled_at')
    .executeTakeFirst()
  t.equal(endpoint?.disabled_at, null)
})

t.test('nothing inside is reached, whatever a name or an address says', async (t) => {
  let connections = 0
  const inside = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((resolve) => inside.listen(0, '::', resolve))
  t.teardown(() => inside.close())
  const { port } = inside.address() as { port: number }
  let lookups = 0
  const poster = createPoster({
    privateHosts: new Set(['localhost.example']),
    resolve: async (host) => {
      lookups++
      // The name of an attacker, which had a public address when the endpoint was added.
      if (host === 'rebind.example') return ['127.0.0.1']
      if (host === 'mixed.example') return ['93.184.215.14', '::1']
      return ['::ffff:127.0.0.1']
    }
  })
  t.teardown(() => poster.close())
  const post = async (url: string) => await poster.post({ url, headers: {}, body: '{}' })
  const hosts = [
    '127.0.0.1',
    '127.1',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fd00::1]',
    '169.254.169.254',
    '10.0.0.1',
    '100.64.0.1',
    '192.168.0.1',
    'rebind.example',
    'mixed.example',
    'mapped.example'
  ]
  for (const host of hosts) {
    t.match(await post(`https://${host}:${port}/`), { status: null, error: 'the address is not public' }, host)
  }
  t.match(await post(`http://rebind.example:${port}/`), { error: 'only https is allowed' })
  t.equal(connections, 0)
  t.ok(lookups >= 3)
})

t.test('public are the addresses of the internet only', async (t) => {
  for (const address of ['93.184.215.14', '8.8.8.8', '2606:4700::1111', '2001:4860:4860::8888']) t.ok(isPublic(address))
  const others = [
    '0.0.0.0',
    '10.1.2.3',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '100.64.0.1',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002::1',
    '3fff::1',
    'fc00::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'localhost',
    ''
  ]
  t.same(others.filter((address) => isPublic(address)), [])
})
