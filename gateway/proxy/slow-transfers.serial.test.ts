// Serial, because it measures response times. Its tests wait most of the time, so they run side by side.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import t from 'tap'
import { until } from '@tandem/test-kit'
import { testGateway } from '../test/gateway.ts'
import { sendAt, type Gateway, type Sending } from '../test/send-at.ts'

t.jobs = 9
const base = '/api/mobile/v1'
const MEBIBYTE = 1024 * 1024

t.test('slow bodies of many accounts and addresses do not delay an upload or a long message', async (t) => {
  const gateway = await testGateway(t)
  const { call, as } = gateway
  const paths = ['/media', '/fitmatch/chat/m1/messages']
  const attack = Array.from({ length: 20 }, (_, n) => {
    const headers = as()
    const from = `127.0.0.${2 + n}`
    return paths.flatMap((path) => [1, 2].map(() => sendAt(gateway, { path, headers, from, bytesPerSecond: 9_216 })))
  }).flat()
  await Promise.all(attack.map(({ isOpen }) => isOpen))
  const upload = (path: string) => call(base + path, { method: 'POST', headers: as(), body: Buffer.alloc(MEBIBYTE) })
  const times: number[] = []
  for (let turn = 0; turn < 8; turn++) {
    for (const path of paths) {
      const { status, ms } = await upload(path)
      t.equal(status, 200)
      times.push(ms)
    }
  }
  // The median: a machine that stalls delays one of them, the attack would delay all.
  const median = times.toSorted((a, b) => a - b)[times.length / 2]!
  t.ok(median < 1_000, `${times.map(Math.round).join(', ')} ms`)
  for (const { stop } of attack) stop()
})

/**
 * Sends a slow body, and after its first bytes one of the same account and one of the same address. The first one sends
 * half as fast, so that it is the first to be taken for slow, and has less to send.
 */
async function sendSlowly (gateway: Gateway, slow: Sending & { length: number }, hasPassedOn = () => true) {
  const ana = gateway.as()
  const slower = { length: slow.length - 50_000, bytesPerSecond: slow.bytesPerSecond / 2 }
  const first = sendAt(gateway, { ...slow, ...slower, headers: ana, from: '127.0.0.2' })
  await first.isOpen
  await until(hasPassedOn)
  const others = [
    sendAt(gateway, { ...slow, headers: ana, from: '127.0.0.3' }),
    sendAt(gateway, { ...slow, from: '127.0.0.2' })
  ]
  return { first, others }
}

t.test('one slow body of an account or an address goes on, any other is 408', async (t) => {
  const gateway = await testGateway(t)
  const { services } = gateway
  const slow = { length: 120_000, bytesPerSecond: 20_000 }
  const { first, others } = await sendSlowly(gateway, slow)
  const elsewhere = sendAt(gateway, { ...slow, from: '127.0.0.4' })
  for (const { answer } of others) {
    const { status, body, ms } = await answer
    t.equal(status, 408)
    t.match(JSON.parse(body), { success: false, code: 'REQUEST_TIMEOUT', error: String })
    t.ok(ms > 1_900 && ms < 4_500, `${ms} ms`)
  }
  t.equal((await first.answer).status, 200)
  t.equal((await elsewhere.answer).status, 200)
  t.equal(services.social.received.length, 2)
})

t.test('one slow video of an account or an address goes on, any other is 408', async (t) => {
  const gateway = await testGateway(t)
  const { services } = gateway
  const ends: boolean[] = []
  let received = 0
  services.social.handleWith((request, response) => {
    request.on('error', () => {}).on('close', () => ends.push(request.complete))
      .on('data', (chunk: Buffer) => received += chunk.length)
      .on('end', () => response.writeHead(200).end())
  })
  const slow = { length: 6 * MEBIBYTE, burst: 6 * MEBIBYTE - 120_000, bytesPerSecond: 20_000 }
  const { first, others } = await sendSlowly(gateway, slow, () => received >= slow.burst)
  for (const { answer } of others) {
    const { status, body } = await answer
    t.equal(status, 408)
    t.match(JSON.parse(body), { success: false, code: 'REQUEST_TIMEOUT' })
  }
  t.equal((await first.answer).status, 200)
  t.strictSame(ends, [false, false, true], 'the others end at the service too')
})

t.test('bodies of 80 KB/s are not slow, however many', async (t) => {
  const gateway = await testGateway(t)
  const headers = gateway.as()
  const sendings = [1, 2].map(() => sendAt(gateway, { headers, length: 320_000, bytesPerSecond: 80_000 }))
  for (const { answer } of sendings) t.equal((await answer).status, 200)
})

t.test('a body that arrives too slowly is 408 in the envelope, and a steady one is accepted', async (t) => {
  const gateway = await testGateway(t)
  const steady = sendAt(gateway, { length: 200_000, burst: 5_000, bytesPerSecond: 25_000 })
  const slow = sendAt(gateway, { from: '127.0.0.2', bytesPerSecond: 5 })
  await slow.isOpen
  const openedAt = performance.now()
  const { status, body } = await slow.answer
  t.equal(status, 408)
  t.match(JSON.parse(body), { success: false, code: 'REQUEST_TIMEOUT', error: String })
  const ms = performance.now() - openedAt
  t.ok(ms < 7_000, `${ms} ms`)
  t.equal((await steady.answer).status, 200)
  t.equal(gateway.services.social.received.length, 1)
})

t.test('bodies that stall end once others need the memory that they hold', async (t) => {
  const gateway = await testGateway(t)
  const stalled = Array.from(
    { length: 14 },
    (_, n) =>
      sendAt(gateway, { from: `127.0.0.${2 + n}`, burst: 5 * MEBIBYTE - 10, length: 5 * MEBIBYTE, bytesPerSecond: 0 })
  )
  await Promise.all(stalled.map(({ isOpen }) => isOpen))
  const { status, ms } = await gateway.call(`${base}/media`, {
    method: 'POST',
    headers: gateway.as(),
    body: Buffer.alloc(MEBIBYTE)
  })
  t.equal(status, 200)
  t.ok(ms < 4_000, `${ms} ms`)
  const refused = stalled.map(async ({ answer }) => {
    const { status } = await answer
    if (status !== 408) throw new Error(`${status}`)
  })
  await t.resolves(Promise.any(refused), 'one of them is 408')
  for (const { stop } of stalled) stop()
})

t.test('clients that do not read their downloads do not keep others from theirs', async (t) => {
  const { url, call, services: { identity } } = await testGateway(t, { env: { LIMIT_ACCOUNT_EXPORT_FILE: 'off' } })
  const file = Buffer.alloc(16 * MEBIBYTE)
  identity.respondWith(({ url }, response) => {
    response.writeHead(200, { 'content-type': 'application/zip' })
    response.end(url.includes('mine') ? 'short' : file)
  })
  const path = `${base}/account/export/file?token=`
  const idle = await Promise.all(Array.from({ length: 8 }, async (_, n) => {
    const request = get(`${url}${path}${n}`, { localAddress: `127.0.0.${2 + n}`, agent: false })
    const [response] = await once(request, 'response') as [IncomingMessage]
    const ended = new Promise<string>((resolve) => {
      response.on('error', () => resolve('cut off')).on('end', () => resolve('whole'))
    })
    return { response, ended }
  }))
  const { status, ms } = await call(`${path}mine`)
  t.equal(status, 200)
  t.ok(ms < 4_000, `${ms} ms`)
  const ends = await Promise.all(idle.map(({ response, ended }) => {
    response.resume()
    return ended
  }))
  t.ok(ends.includes('cut off'))
})

t.test('long responses that are not read do not delay those of others', async (t) => {
  const { app, call, as, services } = await testGateway(t)
  services.dashboard.respondWith((_received, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify('x'.repeat(MEBIBYTE)))
  })
  const batch = { method: 'POST', body: Buffer.alloc(100_000) }
  // As if these clients were far away: near ones leave the response to the kernel.
  const holdBack = (socket: Socket) => Object.assign(socket, { _write () {}, _writev () {} })
  app.server.on('connection', holdBack)
  for (let number = 0; number < 8; number++) {
    call(`${base}/logs/batch`, { ...batch, headers: as(), from: `127.0.0.${2 + number}` }).catch(() => {})
  }
  await until(() => services.dashboard.received.length === 8)
  app.server.off('connection', holdBack)
  t.equal((await call(`${base}/logs/batch`, { ...batch, headers: as() })).status, 200)
})

t.test('accounts with three videos each do not keep the places from others', async (t) => {
  const gateway = await testGateway(t)
  const { call, as, services } = gateway
  services.social.handleWith((request, response) => {
    request.on('error', () => {}).on('end', () => response.writeHead(200).end('{}')).resume()
  })
  // They are not slow.
  const video = { length: 40 * MEBIBYTE, bytesPerSecond: 200_000 }
  const attack = Array.from({ length: 8 }, (_, n) => {
    const [headers, from] = [as(), `127.0.0.${2 + n}`]
    return [1, 2, 3].map(() => sendAt(gateway, { ...video, headers, from }))
  }).flat()
  await Promise.all(attack.map(({ isOpen }) => isOpen))
  const body = Buffer.alloc(6 * MEBIBYTE)
  t.equal((await call(`${base}/media`, { method: 'POST', headers: as(), body })).status, 200)
  for (const { stop } of attack) stop()
})
