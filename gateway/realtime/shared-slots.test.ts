import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { until } from '@tandem/test-kit'
import { openSocket, rawUpgrade, realtimeGateway } from '../test/realtime.ts'
import { REALTIME_PATH } from './upgrade.ts'

// What one account or one address cannot hold of a gateway, so that others have it. The tests mostly wait, so they run
// side by side. The first gateway registers the metrics of the process.
await realtimeGateway(t)
t.jobs = 8

type Gateway = Awaited<ReturnType<typeof realtimeGateway>>

const statusOf = async (t: Test, { url }: Gateway, headers: Record<string, string>) =>
  await openSocket(t, url, { headers }).then(() => 101, ({ status }: { status: number }) => status)

t.test('an upgrade that is not completed leaves its place to others', async (t) => {
  const gateway = await realtimeGateway(t, { REALTIME_MAX_CONNECTIONS: '1' })
  const { url, as } = gateway
  const invalid = await rawUpgrade(url, {
    ...as(),
    'sec-websocket-protocol': 'tandem.v1, tandem.v1'
  })
  t.match(invalid.text, /^HTTP\/1\.1 400 /)
  await until(async () => await statusOf(t, gateway, as()) === 101)
})

t.test('a client that leaves while it is let in leaves its place to others', async (t) => {
  const gateway = await realtimeGateway(t, { REALTIME_MAX_CONNECTIONS: '1' })
  const { url, as, feed } = gateway
  const { promise, resolve: answer } = Promise.withResolvers<void>()
  feed.hold = async () => await promise
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `GET ${REALTIME_PATH} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n` +
      `Sec-WebSocket-Protocol: tandem.v1\r\nAuthorization: ${as().authorization}\r\n\r\n`
  )
  await until(() => feed.requests.length === 1)
  socket.destroy()
  t.equal(await statusOf(t, gateway, as()), 503, 'it is still being let in')
  answer()
  await until(async () => await statusOf(t, gateway, as()) === 101)
})

t.test('the addresses of one IPv6 customer count as one', async (t) => {
  const gateway = await realtimeGateway(t, { TRUST_PROXY: 'loopback', REALTIME_MAX_PER_ADDRESS: '1' })
  const from = (address: string) => ({ ...gateway.as(), 'x-forwarded-for': address })
  t.equal(await statusOf(t, gateway, from('2001:db8:1:2::1')), 101)
  t.equal(await statusOf(t, gateway, from('2001:db8:1:2:ffff::2')), 429)
  t.equal(await statusOf(t, gateway, from('2001:db8:1:3::1')), 101)
})

t.test('attempts to open a connection count as requests of their address', async (t) => {
  const gateway = await realtimeGateway(t, { TRUST_PROXY: 'loopback', FLOOD_LIMIT: '2/1m' })
  const from = (address: string) => ({ ...gateway.as(), 'x-forwarded-for': address })
  t.equal(await statusOf(t, gateway, from('192.0.2.1')), 101)
  t.equal(await statusOf(t, gateway, from('192.0.2.1')), 101)
  t.equal(await statusOf(t, gateway, from('192.0.2.1')), 429)
  t.equal(await statusOf(t, gateway, from('192.0.2.2')), 101)
})

t.test('pings of the protocol are answered, and too many end the connection', async (t) => {
  const { url, as } = await realtimeGateway(t)
  const { socket, closed } = await openSocket(t, url, { headers: as() })
  socket.ping('here')
  const [data] = await once(socket, 'pong') as [Buffer]
  t.equal(String(data), 'here')
  for (let number = 0; number < 10; number++) socket.ping()
  for (let number = 0; number < 10; number++) socket.pong()
  t.equal(await closed, 4429)
})

t.test('a stream that was closed does not stay for a client that reads nothing', async (t) => {
  const { app, url, as, feed, revokedSessions } = await realtimeGateway(t, {}, { maxStalled: 60_000 })
  const sessionId = randomUUID()
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  t.teardown(() => socket.destroy())
  socket.write(
    `GET ${REALTIME_PATH}?after=0123456789abcdef-0 HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n` +
      `Authorization: ${as(sessionId).authorization}\r\n\r\n`
  )
  for (let number = 0; number < 200; number++) feed.log('x'.repeat(60_000))
  await until(() => feed.requests.length > 0)
  // It no longer looks for news, as what it was sent is unread.
  let seen = 0
  await until(async () => {
    const before = seen
    seen = feed.requests.length
    await new Promise((resolve) => setTimeout(resolve, 500))
    return before === seen
  })
  const countConnections = promisify(app.server.getConnections.bind(app.server))
  t.equal(await countConnections(), 1)
  revokedSessions.push(sessionId)
  await until(async () => await countConnections() === 0)
})
