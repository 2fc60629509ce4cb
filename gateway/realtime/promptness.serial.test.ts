// Serial: it measures how soon connections end, and opens two within a second.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openEvents, openSocket, realtimeGateway } from '../test/realtime.ts'

// They wait most of the time, so they run side by side.
t.jobs = 6
const transports = { websocket: openSocket, sse: openEvents }

for (const kind of ['websocket', 'sse'] as const) {
  const open = transports[kind]

  t.test(`${kind}: a session that ends closes its connections within a second`, async (t) => {
    const { url, as, revokedSessions } = await realtimeGateway(t)
    const sessionId = randomUUID()
    const [client, other] = [
      await open(t, url, { headers: as(sessionId) }),
      await open(t, url, { headers: as() })
    ]
    await client.next('hello')
    const startedAt = performance.now()
    revokedSessions.push(sessionId)
    t.equal(await client.closed, 4401)
    t.ok(performance.now() - startedAt < 1_000, `${Math.round(performance.now() - startedAt)} ms`)
    t.equal(other.frames.some(({ type }) => type === 'error'), false)
  })

  t.test(`${kind}: an expired token ends the connection, after a warning`, async (t) => {
    const { url, as } = await realtimeGateway(t)
    const now = Math.floor(Date.now() / 1_000)
    const client = await open(t, url, { headers: as(randomUUID(), { exp: now - 3 }) })
    t.match(await client.next('token.expiring'), { data: { expiresAt: String } })
    t.equal(await client.closed, 4401)
    const late = Date.now() / 1_000 - (now - 3 + 5)
    t.ok(late < 2.5, `${late} s after the token and the clock skew`)
  })

  t.test(`${kind}: more connections in a second than the gateway opens are refused`, async (t) => {
    const { url, as } = await realtimeGateway(t, { REALTIME_OPENS_PER_SECOND: '1' })
    const headers = as()
    await open(t, url, { headers })
    t.match(await open(t, url, { headers }).catch((error: unknown) => error), { status: 503 })
  })
}
