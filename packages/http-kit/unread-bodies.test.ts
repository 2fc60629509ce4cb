import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import Fastify from 'fastify'
import t from 'tap'
import { data } from './envelope.ts'
import { Body, Text } from './schemas.ts'
import type { Routes } from './server.ts'
import { postThenRead, testServer } from './testing.ts'
import { discardUnreadBodies } from './unread-bodies.ts'

const routes: Routes = async (app) => {
  app.post(
    '/note',
    { schema: { body: Body({ note: Text({ max: 10 }) }) }, config: { public: true } },
    async () => data({})
  )
  app.post('/mine', { schema: { body: Body({ note: Text({ max: 10 }) }) } }, async () => data({}))
}

async function listen (t: Parameters<typeof testServer>[0]) {
  const app = await testServer(t, routes)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

t.test('a client that sends 10 MB of JSON reads the 413, 25 times of 25', async (t) => {
  const port = await listen(t)
  const body = Buffer.from(JSON.stringify({ note: 'x'.repeat(10_000_000) }))
  for (const chunked of [false, true]) {
    for (const [close, rounds] of [[true, 5], [false, 2]] as const) {
      const variant = `${chunked ? 'chunked' : 'with its length'}, ${close ? 'Connection: close' : 'kept alive'}`
      const answers = []
      for (let i = 0; i < rounds; i++) {
        const batch = Array.from(
          { length: 5 },
          () =>
            postThenRead(port, { path: '/note', headers: { 'content-type': 'application/json' }, body, chunked, close })
        )
        answers.push(...await Promise.all(batch))
      }
      t.strictSame(
        answers.filter(({ status, isComplete, closes }) => !(status === 413 && isComplete && closes)),
        [],
        variant
      )
      t.ok(answers.every(({ text }) => text.includes('PAYLOAD_TOO_LARGE')))
    }
  }
})

t.test('a client without a token reads the 401 to a long body', async (t) => {
  const port = await listen(t)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => postThenRead(port, { path: '/mine', body: Buffer.alloc(3_000_000), close: true }))
  )
  t.equal(answers.filter(({ status, isComplete }) => status === 401 && isComplete).length, 20)
})

t.test('an error response to a short body keeps the connection open', async (t) => {
  const port = await listen(t)
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  t.teardown(() => socket.destroy())
  for (let i = 0; i < 3; i++) {
    socket.write('POST /mine HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}')
    const [answer] = await once(socket, 'data') as [string]
    t.match(answer, /^HTTP\/1\.1 401 /)
    t.match(answer, /^connection: keep-alive/im)
  }
})

t.test('the response is sent before the rest of the body arrives', async (t) => {
  const port = await listen(t)
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  t.teardown(() => socket.destroy())
  socket.write('POST /note HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n{')
  const [answer] = await once(socket, 'data') as [string]
  t.match(answer, /^HTTP\/1\.1 413 /)
  t.match(answer, /PAYLOAD_TOO_LARGE/)
})

t.test('an endless body is aborted after its maximum length or time', async (t) => {
  const app = Fastify()
  discardUnreadBodies(app, { maxBytes: 1_000_000, maxMs: 500 })
  app.post('/', { onRequest: async (_request, reply) => await reply.code(401).send('no') }, async () => 'read')
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 900000000\r\n\r\n'

  const slow = connect(port, '127.0.0.1').on('error', () => {})
  const since = performance.now()
  slow.write(head)
  slow.resume()
  await new Promise((resolve) => slow.on('close', resolve))
  t.ok(performance.now() - since > 400)

  const long = connect(port, '127.0.0.1').on('error', () => {})
  long.write(head)
  long.resume()
  let sent = 0
  const writeMore = () => {
    while (!long.destroyed && long.write(Buffer.alloc(65_536))) sent += 65_536
  }
  long.on('drain', writeMore)
  const closed = new Promise((resolve) => long.on('close', resolve))
  writeMore()
  await closed
  t.ok(sent < 20_000_000, `${sent} bytes`)
})
