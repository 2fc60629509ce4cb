import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import t from 'tap'
import { connectBus, publishSignal } from '@tandem/bus-kit/realtime'
import { silentLog } from '@tandem/http-kit/testing'
import { registry } from '@tandem/process-kit'
import { startNats, until } from '@tandem/test-kit'
import { createConnection } from './connection.ts'
import { openSocket, realtimeGateway } from '../test/realtime.ts'
import { REALTIME_PATH } from './upgrade.ts'

t.test('a signal brings a frame at once, and nothing is lost while NATS is down', async (t) => {
  const nats = await startNats(t)
  const { url, as, feed } = await realtimeGateway(t, { NATS_URL: nats.url })
  const headers = as()
  const accountId = (JSON.parse(Buffer.from(headers.authorization.split('.')[1] ?? '', 'base64url').toString()) as {
    sub: string
  }).sub
  const client = await openSocket(t, url, { headers })
  await client.next('hello')
  const join = (service: string) => {
    const bus = connectBus(nats.url, { service, log: silentLog })
    t.teardown(() => bus.close())
    return bus
  }
  const [notification, fitmatch] = [join('notification'), join('fitmatch')]
  await until(() => notification.current() !== undefined && fitmatch.current() !== undefined)

  feed.log('one')
  const startedAt = performance.now()
  publishSignal(notification, [[accountId, 1], [randomUUID(), 9]])
  await client.next('account.changed')
  t.ok(performance.now() - startedAt < 1_000, `${Math.round(performance.now() - startedAt)} ms`)

  const typing = { type: 'chat.typing', at: new Date().toISOString(), data: { matchId: randomUUID(), isTyping: true } }
  publishSignal(fitmatch, { to: randomUUID(), frame: typing })
  publishSignal(fitmatch, null)
  publishSignal(fitmatch, { to: accountId, frame: typing })
  t.strictSame(await client.next('chat.typing'), typing)
  t.equal(client.frames.filter(({ type }) => type === 'chat.typing').length, 1)

  await nats.kill()
  feed.log('two')
  await until(() => client.frames.filter(({ type }) => type === 'account.changed').length === 2, 15)
})

t.test('an open connection outlives the notification service, and catches up', async (t) => {
  const { url, as, feed, services } = await realtimeGateway(t)
  const client = await openSocket(t, url, { headers: as() })
  await client.next('hello')
  await services.notification.stop()
  feed.log('meanwhile')
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  await services.notification.start()
  t.match(await client.next('account.changed'), { data: { text: 'meanwhile' } })
})

t.test('a position that the log does not know leads to a second hello', async (t) => {
  const { url, as, feed } = await realtimeGateway(t)
  const client = await openSocket(t, url, { headers: as(), after: '0123456789abcdef-99' })
  t.match(await client.next('hello'), { data: { resumed: false, position: '0123456789abcdef-0' } })
  feed.log('one')
  t.match(await client.next('account.changed'), { data: { text: 'one' } })
})

t.test('a browser sends its token as a subprotocol', async (t) => {
  const { url, as } = await realtimeGateway(t)
  const [, token] = as().authorization.split(' ')
  const response = await rawUpgrade(url, { 'sec-websocket-protocol': `tandem.v1, bearer.${token}` })
  t.match(response.text, /^HTTP\/1\.1 101 /)
  t.match(response.text, /sec-websocket-protocol: tandem\.v1\r\n/i)
  t.match((await rawUpgrade(url, { 'sec-websocket-protocol': `bearer.${token}` })).text, /VALIDATION_ERROR/)
})

t.test('a client pings, renews its token, and learns of unknown frames', async (t) => {
  const { url, as, issuer } = await realtimeGateway(t)
  const [sessionId, sub] = [randomUUID(), randomUUID()]
  const client = await openSocket(t, url, { headers: as(sessionId, { sub }) })
  client.socket.send(JSON.stringify({ type: 'ping' }))
  await client.next('pong')
  client.socket.send(JSON.stringify({ type: 'dance', at: 1 }))
  t.match(await client.next('error'), { data: { code: 'UNKNOWN_FRAME' } })
  const renew = (headers: { authorization: string }) =>
    client.socket.send(JSON.stringify({ type: 'auth', data: { accessToken: headers.authorization.split(' ')[1] } }))
  renew(issuer.bearer(sessionId, { sub }))
  client.socket.send(JSON.stringify({ type: 'ping' }))
  await until(() => client.frames.filter(({ type }) => type === 'pong').length === 2)
  renew(issuer.bearer(sessionId))
  t.equal(await client.closed, 4401, 'a token of another account')
})

t.test('frames that are wrong close the connection with the right code', async (t) => {
  const { url, as } = await realtimeGateway(t)
  const closedBy = async (send: (client: Awaited<ReturnType<typeof openSocket>>) => void) => {
    const client = await openSocket(t, url, { headers: as() })
    send(client)
    return await client.closed
  }
  t.equal(await closedBy(({ socket }) => socket.send('not json')), 4400)
  t.equal(await closedBy(({ socket }) => socket.send('{"type":"focus","data":{"matchId":5}}')), 4400)
  t.equal(await closedBy(({ socket }) => socket.send(Buffer.from('{}'))), 1003)
  t.equal(await closedBy(({ socket }) => socket.send('x'.repeat(5_000))), 1009)
  t.equal(await closedBy(({ socket }) => socket.send(Buffer.from([0xff, 0xfe]), { binary: false })), 1007)
  t.equal(
    await closedBy(({ socket }) => {
      for (let number = 0; number < 25; number++) socket.send('{"type":"pong"}')
    }),
    4429
  )
})

t.test('a client that reads nothing is ended, and others do not notice', async (t) => {
  const { url, as, feed } = await realtimeGateway(t)
  const headers = as()
  const other = await openSocket(t, url, { headers: as() })
  const slow = await openSocket(t, url, { headers, after: '0123456789abcdef-0' })
  await slow.next('hello')
  slow.socket.pause()
  for (let number = 0; number < 400; number++) feed.log('x'.repeat(60_000))
  other.socket.send('{"type":"ping"}')
  await other.next('pong')
  const isEnded = async () => {
    const metrics = await registry.metrics()
    return /gateway_realtime_closed_total\{reason="stalled"\} 1/.test(metrics)
  }
  await until(isEnded, 40)
  t.pass('it was ended after 10 s')
})

t.test('a connection ends when identity withdraws the key of its token', async (t) => {
  const seconds = Math.floor(Date.now() / 1_000)
  const closed: number[] = []
  const page = { frames: [], position: '0123456789abcdef-0', resumed: true, more: false, unreadCount: 0 }
  const connection = createConnection({
    verified: {
      account: { id: randomUUID(), sessionId: randomUUID(), role: 'USER', token: 'token' },
      kid: 'one',
      issuedAt: seconds,
      expiresAt: seconds + 900
    },
    address: '127.0.0.1',
    language: undefined,
    readFeed: async () => page,
    onClosed () {}
  })
  connection.open({
    kind: 'sse',
    send () {},
    unsentBytes: () => 0,
    close: (code) => closed.push(code),
    terminate () {}
  }, page)
  const keys = new Set(['one'])
  const tick = () => connection.tick({ now: Date.now(), hasSignals: true, hasKey: (kid) => keys.has(kid) })
  tick()
  t.strictSame(closed, [])
  keys.delete('one')
  tick()
  t.strictSame(closed, [4401])
})

t.test('only this path is upgraded, and any other request there gets an error that names the way', async (t) => {
  const { as, call } = await realtimeGateway(t)
  const plain = await call(REALTIME_PATH, { headers: as() })
  t.match([plain.status, plain.json()], [426, { success: false, code: 'UPGRADE_REQUIRED' }])
  const h2c = await call('/api/mobile/v1/meta', { headers: { connection: 'Upgrade', upgrade: 'h2c' } })
  t.equal(h2c.status, 200)
  const elsewhere = await call('/api/mobile/v1/meta', { headers: { connection: 'Upgrade', upgrade: 'websocket' } })
  t.equal(elsewhere.status, 200)
})

t.test('1,000 refused upgrades leave no descriptor open', async (t) => {
  const { url } = await realtimeGateway(t)
  const descriptors = () => readdirSync('/proc/self/fd').length
  const before = descriptors()
  for (let batch = 0; batch < 20; batch++) {
    const responses = await Promise.all(Array.from({ length: 50 }, async () =>
      await rawUpgrade(url, {
        'sec-websocket-protocol': 'tandem.v1'
      })))
    for (const { text } of responses) if (!text.includes('UNAUTHORIZED')) t.fail(text)
  }
  await until(() => descriptors() <= before + 5)
  t.ok(descriptors() <= before + 5, `${descriptors()} of ${before}`)
})

/** Sends an upgrade over a raw socket; resolves with what arrives until the server closes, or after the handshake. */
async function rawUpgrade (url: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(url)
  const socket = connectSocket(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(
    `GET ${REALTIME_PATH} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${lines}\r\n`
  )
  let text = ''
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (text.includes('101 Switching')) resolve()
    })
    socket.on('close', () => resolve())
  })
  socket.destroy()
  return { text }
}
