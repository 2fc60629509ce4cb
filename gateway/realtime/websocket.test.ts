import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { connectBus, publishSignal } from '@tandem/bus-kit/realtime'
import { silentLog } from '@tandem/http-kit/testing'
import { startNats, until } from '@tandem/test-kit'
import { createConnection, open } from './connection.ts'
import { openSocket, rawUpgrade, realtimeGateway } from '../test/realtime.ts'
import { supervise } from './supervision.ts'
import { sinceStart, standardTimes } from './times.ts'
import { createEventStream } from './transports.ts'
import { REALTIME_PATH } from './upgrade.ts'

// The tests mostly wait, so they run side by side. The first gateway registers the metrics of the process.
await realtimeGateway(t)
t.jobs = 8

t.test('a signal brings a frame, and nothing is lost while NATS is down', async (t) => {
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
  publishSignal(notification, [[accountId, 1], [randomUUID(), 9]])
  await client.next('account.changed')

  const typing = { type: 'chat.typing', at: new Date().toISOString(), data: { matchId: randomUUID(), isTyping: true } }
  publishSignal(fitmatch, { to: randomUUID(), frame: typing })
  publishSignal(fitmatch, null)
  publishSignal(fitmatch, { to: accountId, frame: typing })
  t.strictSame(await client.next('chat.typing'), typing)
  t.equal(client.frames.filter(({ type }) => type === 'chat.typing').length, 1)

  await nats.kill()
  feed.log('two')
  await until(() => client.frames.filter(({ type }) => type === 'account.changed').length === 2)
})

t.test('an open connection outlives the notification service, and catches up', async (t) => {
  const { url, as, feed, services } = await realtimeGateway(t)
  const client = await openSocket(t, url, { headers: as() })
  await client.next('hello')
  await services.notification.stop()
  feed.log('meanwhile')
  // Several looks for news fail.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
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

t.test('the chat on the screen is reported, renewed, and forgotten when the connection ends', async (t) => {
  const { url, as, feed } = await realtimeGateway(t, {}, { focusRenewal: 500 })
  const reported = () => feed.requests.flatMap(({ focus }) => focus === undefined ? [] : [focus])
  const [client, matchId] = [await openSocket(t, url, { headers: as() }), randomUUID()]
  await client.next('hello')
  t.strictSame(reported(), [])
  const focusOn = (matchId: string | null) => client.socket.send(JSON.stringify({ type: 'focus', data: { matchId } }))
  focusOn(matchId)
  await until(() => reported().length >= 3)
  focusOn(null)
  await until(() => reported().at(-1) === null)
  const looks = feed.requests.length
  await until(() => feed.requests.length > looks + 5)
  t.strictSame(
    reported(),
    [...Array<string>(reported().length - 1).fill(matchId), null],
    'null is reported once: another device may have a chat open'
  )
  focusOn(matchId)
  await until(() => reported().at(-1) === matchId)
  client.socket.terminate()
  await until(() => reported().at(-1) === null)
})

t.test('a focus that could not be reported is reported later', async (t) => {
  const { url, as, feed, services } = await realtimeGateway(t)
  const client = await openSocket(t, url, { headers: as() })
  await client.next('hello')
  await services.notification.stop()
  const matchId = randomUUID()
  client.socket.send(JSON.stringify({ type: 'focus', data: { matchId } }))
  client.socket.send('{"type":"ping"}')
  await client.next('pong')
  await services.notification.start()
  await until(() => feed.requests.some(({ focus }) => focus === matchId))
})

t.test('a connection shows its account as active, whether it watches or not', async (t) => {
  const { url, as, presence } = await realtimeGateway(t, {}, { activity: 300 })
  await openSocket(t, url, { headers: as() })
  await until(() => presence.requests.length > 2)
  t.strictSame(presence.requests[0]?.matchIds, [])
})

t.test('watching again replaces what was watched', async (t) => {
  const { url, as, presence } = await realtimeGateway(t)
  const [one, other] = [randomUUID(), randomUUID()]
  for (const matchId of [one, other]) presence.of.set(matchId, { matchId, isOnline: true, lastActiveAt: null })
  const client = await openSocket(t, url, { headers: as() })
  const watch = (matchIds: string[]) => client.socket.send(JSON.stringify({ type: 'watch', data: { matchIds } }))
  watch([one])
  await client.next('presence.changed')
  watch([other])
  await until(() => client.frames.filter(({ type }) => type === 'presence.changed').length === 2)
  presence.of.set(one, { matchId: one, isOnline: false, lastActiveAt: null })
  const before = presence.requests.length
  await until(() => presence.requests.length > before + 2)
  t.strictSame(
    client.frames.flatMap(({ type, data }) =>
      type === 'presence.changed' ? [(data as { matchId: string }).matchId] : []
    ),
    [one, other]
  )
})

t.test('a connection ends when identity withdraws the key of its token', async (t) => {
  const seconds = Math.floor(Date.now() / 1_000)
  const page = { frames: [], position: '0123456789abcdef-0', resumed: true, more: false, unreadCount: 0 }
  const shared = {
    times: standardTimes,
    readFeed: async () => page,
    readPresence: async () => ({ presence: [] }),
    verifyAccessToken: async () => await Promise.reject(new Error('unexpected call')),
    onClosed () {}
  }
  const connection = createConnection(shared, {
    verified: {
      account: { id: randomUUID(), sessionId: randomUUID(), role: 'USER', restrictedUntil: 0, token: 'token' },
      kid: 'one',
      issuedAt: seconds,
      expiresAt: seconds + 900
    },
    address: '127.0.0.1',
    language: undefined
  })
  const stream = createEventStream(new PassThrough(), () => {})
  open(connection, stream, page)
  const keys = new Set(['one'])
  const tick = () => supervise(connection, { now: sinceStart(), hasSignals: true, hasKey: (kid) => keys.has(kid) })
  tick()
  t.equal(connection.isClosed, false)
  keys.delete('one')
  tick()
  t.equal(connection.isClosed, true)
  t.match(String(await stream.toArray()), /event: error\ndata: .*"4401"/)
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

t.test('a server that closes refuses upgrades in the envelope', async (t) => {
  // Longer than a busy machine needs for the request.
  const { url, as, app } = await realtimeGateway(t, { REALTIME_DRAIN_SECONDS: '8' })
  const client = await openSocket(t, url, { headers: as() })
  const closed = app.close()
  await client.next('reconnect')
  const refused = await rawUpgrade(url, { ...as(), 'sec-websocket-protocol': 'tandem.v1' })
  t.match(refused.text, /^HTTP\/1\.1 503 [^]*retry-after: \d+\r\n[^]*SERVICE_UNAVAILABLE/i)
  t.equal(await client.closed, 1012)
  await closed
})
