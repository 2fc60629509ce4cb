import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import t from 'tap'
import { createServer } from './server.ts'
import { silentLog, testKeys } from './testing.ts'

t.test('a request takes as long as its route allows, and any other 15 seconds', async (t) => {
  const app = await createServer({ name: 'test', log: silentLog, keys: testKeys, longestRequestMs: 60_000 })
  t.teardown(() => app.close())
  const longRequests = { minBytes: 100, timeoutMs: 500 }
  app.post('/short', { config: { public: true, longRequests } }, async () => 'read')
  app.post('/other', { config: { public: true } }, async () => 'read')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  /** Sends the head of a request, and nothing of its body. */
  const send = async (path: string, length: number, withinMs: number) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
    )
    const chunk = await once(socket, 'data', { signal: AbortSignal.timeout(withinMs) })
      .then(([bytes]: Buffer[]) => bytes?.toString() ?? '', () => 'waits')
    socket.destroy()
    return chunk
  }
  const answers = await Promise.all([
    send('/short', 101, 10_000),
    send('/short', 100, 3_000),
    send('/other', 101, 3_000),
    send('/other', 101, 30_000)
  ])
  t.match(answers[0], /^HTTP\/1.1 408[^]*REQUEST_TIMEOUT/, 'a long one, after its own time')
  t.equal(answers[1], 'waits', 'a short one of the same route has 15 seconds')
  t.equal(answers[2], 'waits')
  t.match(answers[3], /^HTTP\/1.1 408/)
})

t.test('a connection on which nothing moves for two minutes is closed', async (t) => {
  const app = await createServer({ name: 'test', log: silentLog, keys: testKeys })
  t.teardown(() => app.close())
  t.equal(app.server.timeout, 120_000)
})
