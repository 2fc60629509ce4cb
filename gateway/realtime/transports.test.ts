import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serverFrames } from '@tandem/contracts/realtime'
import { until } from '@tandem/test-kit'
import { Compile } from 'typebox/compile'
import { createIssuer } from '../test/gateway.ts'
import { openEvents, openSocket, realtimeGateway } from '../test/realtime.ts'

// The tests mostly wait, so they run side by side. The first gateway registers the metrics of the process.
await realtimeGateway(t)
t.jobs = 8

const transports = { websocket: openSocket, sse: openEvents }
const kinds = ['websocket', 'sse'] as const

for (const kind of kinds) {
  const open = transports[kind]

  t.test(`${kind}: a connection begins with hello, and gets the frames that follow`, async (t) => {
    const { url, as, feed } = await realtimeGateway(t)
    feed.log('before')
    const client = await open(t, url, { headers: as() })
    const hello = await client.next('hello')
    t.match(hello, { data: { connectionId: String, resumed: false, unreadCount: 3, heartbeatSeconds: 25 } })
    t.equal(hello.id, undefined)
    feed.log('after')
    const frame = await client.next('account.changed')
    t.match(frame, { id: /-2$/, data: { text: 'after' } }, 'without a signal, it is found by looking')
    for (const { type, data } of client.frames) {
      t.strictSame([...Compile(serverFrames[type].data).Errors(data)], [], type)
    }
  })

  t.test(`${kind}: a client resumes after the last frame that it got`, async (t) => {
    const { url, as, feed } = await realtimeGateway(t)
    for (let number = 1; number <= 120; number++) feed.log(String(number))
    const client = await open(t, url, { headers: as(), after: '0123456789abcdef-2' })
    t.match(await client.next('hello'), { data: { resumed: true } })
    // A ping can come between them.
    const changes = () => client.frames.filter(({ type }) => type === 'account.changed')
    await until(() => changes().length === 118)
    t.strictSame(
      changes().map(({ data }) => Number((data as { text: string }).text)),
      Array.from({ length: 118 }, (_, number) => number + 3)
    )
  })

  t.test(`${kind}: refusals are ordinary responses, before the connection is accepted`, async (t) => {
    const { url, as, feed, services, issuer } = await realtimeGateway(t, { CORS_ORIGINS: 'https://app.example' })
    const refusedWith = async (headers: Record<string, string>) =>
      await open(t, url, { headers }).then(() => 0, ({ status }: { status: number }) => status)
    t.equal(await refusedWith({}), 401)
    for (let number = 0; number < 20; number++) {
      const forged = createIssuer(number % 2 ? issuer.jwk.kid : undefined)
      t.equal(await refusedWith(forged.bearer()), 401)
    }
    t.equal(await refusedWith({ ...as(), origin: 'https://evil.example' }), 403)
    t.equal(await refusedWith({ ...as(), origin: 'https://app.example' }), 0)
    feed.isRefusing = true
    t.equal(await refusedWith(as()), 401, 'the service verifies the token again')
    await services.notification.stop()
    t.equal(await refusedWith(as()), 503)
  })

  t.test(`${kind}: the oldest connection of a session makes room for a new one`, async (t) => {
    const { url, as } = await realtimeGateway(t)
    const headers = as()
    const first = await open(t, url, { headers })
    const others = [await open(t, url, { headers }), await open(t, url, { headers }), await open(t, url, { headers })]
    t.equal(await first.closed, 4429)
    await others.at(-1)?.next('hello')
  })

  t.test(`${kind}: a connection that ends while it is opened is closed with the same code`, async (t) => {
    const { url, as, feed, services } = await realtimeGateway(t)
    const [headers, sessionId] = [as(), randomUUID()]
    const { promise: hasEnded, resolve: end } = Promise.withResolvers<void>()
    // The pages of those that open while one is read are read together.
    const asked = () => feed.requests.filter(({ after }) => after === undefined).length
    feed.hold = async () => await (asked() === 6 ? hasEnded : sleep(300))
    const other = open(t, url, { headers: as() })
    await until(() => asked() === 1)
    const opening = Array.from({ length: 4 }, async () => await open(t, url, { headers }))
    const revoked = open(t, url, { headers: as(sessionId) })
    await until(() => asked() === 6)
    services.identity.documents.set('/internal/revoked-sessions', () => {
      // The gateway reads first that the session has ended.
      setTimeout(end, 100)
      return { sessions: [sessionId], until: new Date().toISOString() }
    })
    const [first] = await Promise.all(opening)
    t.equal(await first?.closed, 4429)
    t.equal(await (await revoked).closed, 4401)
    await other
  })

  t.test(`${kind}: connections beyond the limits are refused`, async (t) => {
    const refused = async (env: NodeJS.ProcessEnv, opened: number) => {
      const { url, as } = await realtimeGateway(t, env)
      const headers = as()
      for (let number = 0; number < opened; number++) await open(t, url, { headers })
      return await open(t, url, { headers }).then(() => 0, ({ status }: { status: number }) => status)
    }
    t.equal(await refused({ REALTIME_MAX_CONNECTIONS: '2' }, 2), 503)
    t.equal(await refused({ REALTIME_MAX_PER_ADDRESS: '2' }, 2), 429)
    t.equal(await refused({ REALTIME_OPENS_PER_MINUTE: '2' }, 2), 429)
  })

  t.test(`${kind}: a stopping gateway asks its clients to move, serves requests, then closes what is left`, async (t) => {
    const { url, as, app, call } = await realtimeGateway(t, { REALTIME_DRAIN_SECONDS: '4' })
    const clients = [await open(t, url, { headers: as() }), await open(t, url, { headers: as() })]
    for (const client of clients) await client.next('hello')
    const drained = app.drainConnections()
    t.match([await clients[0]!.next('reconnect'), await clients[1]!.next('reconnect')].map(({ data }) => data), [
      { afterMs: 0 },
      { afterMs: 2_000 }
    ])
    t.equal((await call('/api/mobile/v1/feed', { headers: as() })).status, 200)
    t.match(await open(t, url, { headers: as() }).catch((error: unknown) => error), { status: 503 })
    t.strictSame([await clients[0]!.closed, await clients[1]!.closed], [1012, 1012])
    await drained
    await app.close()
  })

  t.test(`${kind}: presence of watched matches is sent once, then each change`, async (t) => {
    const { url, as, presence } = await realtimeGateway(t)
    const [one, other, hidden] = [randomUUID(), randomUUID(), randomUUID()]
    for (const matchId of [one, other]) presence.of.set(matchId, { matchId, isOnline: true, lastActiveAt: null })
    const client = await open(t, url, { headers: as(), watch: [one, other, hidden].join(',') })
    const seen = () => client.frames.filter(({ type }) => type === 'presence.changed')
    await until(() => seen().length === 2)
    t.strictSame(seen().map(({ data }) => data), [presence.of.get(one), presence.of.get(other)])
    presence.isUnavailable = true
    await until(() => presence.requests.length > 4)
    presence.isUnavailable = false
    presence.of.set(other, { matchId: other, isOnline: false, lastActiveAt: '2026-01-31T09:00:00.000Z' })
    await until(() => seen().length === 3)
    t.strictSame(seen()[2]?.data, presence.of.get(other))
    for (const { data } of seen()) {
      t.strictSame([...Compile(serverFrames['presence.changed'].data).Errors(data)], [])
    }
    presence.of.delete(one)
    const before = presence.requests.length
    await until(() => presence.requests.length > before + 2)
    t.equal(seen().length, 3, 'nothing is sent about a match that is hidden by now')
  })

  t.test(`${kind}: a wrong list of matches to watch is refused`, async (t) => {
    const { url, as } = await realtimeGateway(t)
    const statusOf = async (watch: string) =>
      await open(t, url, { headers: as(), watch }).then(() => 0, ({ status }: { status: number }) => status)
    t.equal(await statusOf('me'), 400)
    t.equal(await statusOf(Array.from({ length: 51 }, () => randomUUID()).join(',')), 400)
    t.equal(await statusOf(Array.from({ length: 50 }, () => randomUUID()).join(',')), 0)
  })
}
