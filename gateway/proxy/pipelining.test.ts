import { connect } from 'node:net'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

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
