import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { registry } from '@tandem/process-kit'
import { until } from '@tandem/test-kit'
import { openEvents, openSocket, rawUpgrade, realtimeGateway } from '../test/realtime.ts'

t.test('frames that are wrong close the connection with the right code', async (t) => {
  const { url, as } = await realtimeGateway(t)
  const closedBy = async (send: (client: Awaited<ReturnType<typeof openSocket>>) => void) => {
    const client = await openSocket(t, url, { headers: as() })
    send(client)
    return await client.closed
  }
  t.equal(await closedBy(({ socket }) => socket.send('not json')), 4400)
  t.equal(await closedBy(({ socket }) => socket.send('{"type":"focus","data":{"matchId":5}}')), 4400)
  const tooMany = { type: 'watch', data: { matchIds: Array.from({ length: 51 }, () => randomUUID()) } }
  t.equal(await closedBy(({ socket }) => socket.send(JSON.stringify(tooMany))), 4400)
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

t.test('a client that does not answer pings is closed, and one that does lives on', async (t) => {
  const { url, as } = await realtimeGateway(t, {}, { heartbeat: 300, pongTimeout: 300 })
  const [silent, lively] = [await openSocket(t, url, { headers: as() }), await openSocket(t, url, { headers: as() })]
  lively.socket.on('message', (message) => {
    if (String(message as Buffer).includes('"ping"')) lively.socket.send('{"type":"pong"}')
  })
  t.equal(await silent.closed, 4408)
  const pings = () => lively.frames.filter(({ type }) => type === 'ping').length
  await until(() => pings() > 3)
  t.equal(lively.socket.readyState, 1)
})

t.test('a client that reads nothing is ended, and others do not notice', async (t) => {
  const countStalled = async () =>
    (await registry.getSingleMetric('gateway_realtime_closed_total')?.get())?.values
      .find(({ labels }) => labels['reason'] === 'stalled')?.value ?? 0
  const before = await countStalled()
  const { url, as, feed } = await realtimeGateway(t)
  const headers = as()
  const other = await openSocket(t, url, { headers: as() })
  const slow = await openSocket(t, url, { headers, after: '0123456789abcdef-0' })
  await slow.next('hello')
  slow.socket.pause()
  for (let number = 0; number < 400; number++) feed.log('x'.repeat(60_000))
  other.socket.send('{"type":"ping"}')
  await other.next('pong')
  await until(async () => await countStalled() === before + 1)
})

t.test('a client that pauses while it catches up gets the rest as soon as it reads again', async (t) => {
  const { url, as, feed } = await realtimeGateway(t, {}, {
    poll: 600_000,
    pollWithoutSignals: 600_000,
    maxStalled: 60_000
  })
  for (let number = 0; number < 400; number++) feed.log('x'.repeat(60_000))
  const slow = await openSocket(t, url, { headers: as(), after: '0123456789abcdef-0' })
  await slow.next('hello')
  slow.socket.pause()
  const requests = async () => {
    const before = feed.requests.length
    await sleep(300)
    return feed.requests.length - before
  }
  await until(async () => await requests() === 0)
  t.ok(feed.requests.length < 400, 'it is not read further')
  slow.socket.resume()
  await until(() => slow.frames.filter(({ type }) => type === 'account.changed').length === 400)
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

t.test('a position that is too long is none, so that it does not fail the reading of other connections', async (t) => {
  const { url, as, feed } = await realtimeGateway(t)
  const client = await openEvents(t, url, { headers: { ...as(), 'last-event-id': 'x'.repeat(101) } })
  t.match(await client.next('hello'), { data: { resumed: false } })
  t.match(feed.requests[0], { token: String, after: undefined })
})

t.test('a frame in pieces of one byte is read like any other', async (t) => {
  const { url, as } = await realtimeGateway(t)
  const client = await openSocket(t, url, { headers: as() })
  const pieces = JSON.stringify({ type: 'ping', data: {} }).split('')
  pieces.forEach((piece, number) => client.socket.send(piece, { fin: number === pieces.length - 1 }))
  await client.next('pong')
})

t.test('an account that opens connections without end is refused, and others are not', async (t) => {
  const { url, as } = await realtimeGateway(t)
  const headers = as()
  const opens = await Promise.allSettled(
    Array.from({ length: 100 }, async () => await openSocket(t, url, { headers }))
  )
  const refused = opens.filter(({ status }) => status === 'rejected').map((each) =>
    (each as PromiseRejectedResult).reason as { status: number }
  )
  t.equal(refused.length, 70, 'the limit of 30 in a minute')
  t.ok(refused.every(({ status }) => status === 429))
  const other = await openSocket(t, url, { headers: as() })
  await other.next('hello')
})
