import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { postThenRead } from '@tandem/http-kit/testing'
import { until } from '@tandem/test-kit'
import { collectGarbage } from '../test/collect-garbage.ts'
import { testGateway } from '../test/gateway.ts'

const base = '/api/mobile/v1'

t.test('a client that sends too much can read the 413, every time', async (t) => {
  const { url, as, services } = await testGateway(t)
  const port = Number(new URL(url).port)
  const bodies = [
    ['a photo of 5.4 MB', `${base}/fitmatch/photos`, 'multipart/form-data; boundary=x', Buffer.alloc(5_400_000, 1)],
    ['10 MB of JSON', `${base}/feed`, 'application/json', Buffer.alloc(10_000_000, ' ')]
  ] as const
  for (const [what, path, type, body] of bodies) {
    // Services send 25 of each: unread-bodies.test.ts of http-kit, rejected-uploads.test.ts of media-kit.
    for (const [chunked, close] of [[false, true], [true, true], [false, false], [true, false]] as const) {
      const answers = []
      for (let i = 0; i < 2; i++) {
        const headers = { ...as(), 'content-type': type }
        const five = Array.from({ length: 5 }, () => postThenRead(port, { path, headers, body, chunked, close }))
        answers.push(...await Promise.all(five))
      }
      const length = chunked ? 'chunked' : 'with its length'
      const variant = `${what}, ${length}, ${close ? 'Connection: close' : 'kept alive'}`
      t.strictSame(answers.filter(({ status, isComplete }) => !(status === 413 && isComplete)), [], variant)
      t.ok(answers.every(({ text }) => text.includes('PAYLOAD_TOO_LARGE')))
    }
  }
  t.strictSame(Object.values(services).flatMap(({ received }) => received), [], 'and no service is called')
})

t.test('a client without a token, or with an unsupported encoding, can read the error', async (t) => {
  const { url, as } = await testGateway(t)
  const port = Number(new URL(url).port)
  const body = Buffer.alloc(5_000_000, 1)
  const send = async (headers: Record<string, string>) =>
    await postThenRead(port, { path: `${base}/fitmatch/photos`, headers, body, close: true })
  for (let i = 0; i < 5; i++) {
    t.match(await send({}), { status: 401, isComplete: true })
    t.match(await send({ ...as(), 'content-encoding': 'gzip' }), { status: 415, isComplete: true })
  }
})

t.test('a body in chunks of one byte takes no more memory than its length', async (t) => {
  const { app, url, as, services } = await testGateway(t)
  const accepted: Socket[] = []
  app.server.on('connection', (socket) => void accepted.push(socket))
  const chunk = '1\r\n \r\n'
  const [count, bytes] = [20, 20_000]
  const body = Buffer.from(chunk.repeat(bytes))
  collectGarbage()
  const before = process.memoryUsage()
  const sockets = await Promise.all(Array.from({ length: count }, async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    const { authorization } = as()
    const head = `POST ${base}/feed HTTP/1.1\r\nAuthorization: ${authorization}\r\nTransfer-Encoding: chunked\r\n\r\n`
    socket.write(head)
    socket.write(body)
    return socket
  }))
  await until(() => accepted.length === count && accepted.every(({ bytesRead }) => bytesRead >= body.length))
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  const megabytes = (heapUsed + external - before.heapUsed - before.external) / 1e6
  // Not ended: a client that closes its side has left.
  for (const socket of sockets) socket.write('0\r\n\r\n')
  await until(() => services.social.received.length === count)
  t.ok(services.social.received.every(({ body }) => body.length === bytes))
  t.ok(megabytes < 25, `${megabytes} MB`)
  for (const socket of sockets) socket.destroy()
})
