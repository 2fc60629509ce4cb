import { randomUUID } from 'node:crypto'
import { createTandem, memoryStorage, type ServerFrame } from '@tandem/sdk'
import { until } from '@tandem/test-kit'
import t, { type Test } from 'tap'
import { realtimeGateway } from '../../gateway/test/realtime.ts'

// The client of the SDK and the real gateway, with the WebSocket of Node, which is that of browsers.

// The tests mostly wait, so they run side by side. The first gateway registers the metrics of the process.
await realtimeGateway(t)
t.jobs = 7

// A machine that stands still for a second does not end a connection.
const delays = { base: 50, max: 200, stable: 50, pong: 5_000 }

/** @param secondsLeft of the access token, which the app has had for a while */
async function signedIn (t: Test, { secondsLeft = 900 } = {}) {
  const gateway = await realtimeGateway(t)
  const [sessionId, sub] = [randomUUID(), randomUUID()]
  const tokenOf = (more: object = {}) =>
    gateway.issuer.bearer(sessionId, { sub, ...more }).authorization.slice('Bearer '.length)
  const refresh = { isRefused: false, count: 0 }
  gateway.services.identity.respondWith((_, response) => {
    refresh.count++
    const body = refresh.isRefused
      ? { success: false, error: 'Sign in again', code: 'INVALID_REFRESH_TOKEN' }
      : { success: true, accessToken: tokenOf(), refreshToken: `r${refresh.count}`, expiresIn: 900 }
    response.writeHead(refresh.isRefused ? 401 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const counts = { signedOut: 0, reloads: 0, connects: 0 }
  const sockets: WebSocket[] = []
  const tandem = createTandem({
    url: gateway.url,
    storage: memoryStorage({
      // Only now: the start of a gateway takes seconds on a machine with much else to do.
      accessToken: tokenOf({ exp: Math.floor(Date.now() / 1_000) + secondsLeft }),
      refreshToken: 'r0'
    }),
    retries: { attempts: 1 },
    onSignedOut: () => counts.signedOut++
  })
  const realtime = tandem.connectRealtime({
    delays,
    onReload: () => counts.reloads++,
    onConnected: (isConnected) => {
      if (isConnected) counts.connects++
    },
    WebSocket: class extends WebSocket {
      constructor (url: string, protocols: string[]) {
        super(url, protocols)
        sockets.push(this)
      }
    } as never
  })
  t.teardown(() => realtime.close())
  const texts: string[] = []
  realtime.on('account.changed', ({ data }) => texts.push((data as unknown as { text: string }).text))
  return { ...gateway, realtime, counts, sockets, texts, refresh, tokenOf, sessionId }
}

t.test('frames arrive typed, and the app loads its lists once', async (t) => {
  const { realtime, feed, counts, texts } = await signedIn(t)
  const hellos: ServerFrame<'hello'>[] = []
  const stop = realtime.on('hello', (frame) => hellos.push(frame))
  await until(() => counts.connects === 1)
  t.match(hellos, [{ data: { unreadCount: 3, resumed: false } }])
  t.equal(counts.reloads, 1)
  feed.log('one')
  await until(() => texts.length === 1)
  stop()
})

t.test('a client that loses its connection again and again gets every frame once', async (t) => {
  const { feed, counts, texts, sockets } = await signedIn(t)
  await until(() => counts.connects === 1)
  for (let number = 0; number < 12; number++) {
    feed.log(String(number))
    if (number % 2 === 0) await until(() => texts.length > number)
    sockets.at(-1)?.close()
    await until(() => counts.connects > number + 1)
  }
  await until(() => texts.length === 12)
  t.strictSame(texts, Array.from({ length: 12 }, (_, number) => String(number)))
  t.equal(counts.reloads, 1)
})

t.test('an expired token is renewed before the connection is given up', async (t) => {
  const { counts, refresh } = await signedIn(t, { secondsLeft: -60 })
  await until(() => counts.connects === 1)
  t.equal(refresh.count, 1)
  t.equal(counts.signedOut, 0)
})

t.test('a token that expires soon is renewed on the open connection', async (t) => {
  const { counts, refresh, sockets, feed, texts } = await signedIn(t, { secondsLeft: 4 })
  await until(() => counts.connects === 1 && refresh.count === 1)
  await new Promise((resolve) => setTimeout(resolve, 11_000))
  feed.log('after the first token has expired')
  await until(() => texts.length === 1)
  t.equal(sockets.length, 1)
})

t.test('when the session has ended, the app is signed out and the client stops', async (t) => {
  const { counts, refresh, revokedSessions, sockets, sessionId } = await signedIn(t)
  await until(() => counts.connects === 1)
  refresh.isRefused = true
  revokedSessions.push(sessionId)
  await until(() => counts.signedOut === 1)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  t.equal(sockets.length, 1)
})

t.test('focus, watch and the heartbeat', async (t) => {
  const { realtime, counts, feed, presence, sockets } = await signedIn(t)
  const [matchId, watched] = [randomUUID(), randomUUID()]
  presence.of.set(watched, { matchId: watched, isOnline: true, lastActiveAt: null })
  const seen: string[] = []
  realtime.on('presence.changed', ({ data }) => seen.push(data.matchId))
  realtime.focus(matchId)
  realtime.watch([watched])
  await until(() => seen.length === 1 && feed.requests.some(({ focus }) => focus === matchId))
  sockets.at(-1)?.close()
  await until(() => counts.connects === 2 && seen.length === 2)
  realtime.wake()
  await new Promise((resolve) => setTimeout(resolve, delays.pong + 1_000))
  t.equal(sockets.length, 2, 'the server has answered the ping')
  realtime.close()
  await new Promise((resolve) => setTimeout(resolve, 500))
  t.equal(sockets.length, 2)
})

t.test('while a gateway moves its connections, the client tries others', async (t) => {
  const { app, counts, sockets, texts, feed } = await signedIn(t)
  await until(() => counts.connects === 1)
  const drained = app.drainConnections()
  feed.log('meanwhile')
  await drained
  await until(() => sockets.length > 2)
  t.equal(counts.signedOut, 0)
  t.equal(counts.connects, 1, 'this gateway accepts no more')
  t.ok(texts.length <= 1)
})
