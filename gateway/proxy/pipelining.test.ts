import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'
import { createHeldBytes } from './held-bytes.ts'
import { ignorePipelined } from './pipelining.ts'

const base = '/api/mobile/v1'

t.test('a request that does not wait for the response before it is refused, and ends the connection', async (t) => {
  const { url, services: { profile } } = await testGateway(t)
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  socket.write(`GET ${base}/locations HTTP/1.1\r\n\r\n`.repeat(1_000))
  const text = (await socket.toArray()).join('')
  t.strictSame(text.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 429'])
  t.match(text, /"code":"RATE_LIMITED"/)
  t.equal(profile.received.length, 1)
})

t.test('of thousands of requests in one packet two are handled, and the others are held in bounds', async (t) => {
  let handled = 0
  const server = createServer({ requireHostHeader: false }, () => void handled++)
  ignorePipelined(server, createHeldBytes(1024 * 1024))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(3_000))
  await once(socket.resume(), 'close')
  t.equal(handled, 2)
})
