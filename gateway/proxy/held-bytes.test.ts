import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { until } from '@tandem/test-kit'
import { testGateway } from '../test/gateway.ts'

const base = '/api/mobile/v1'
const MEBIBYTE = 1024 * 1024

/** Sends `text` over a connection of its own. Nothing is read from it yet. */
async function sendRaw (t: { teardown(work: () => unknown): unknown }, url: string, text: string | Buffer) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  await new Promise<void>((resolve) => void socket.write(text, () => resolve()))
  return socket
}

t.test('bodies that do not arrive hold 64 MiB in all: then the oldest are ended, and others are served', async (t) => {
  const { url, call } = await testGateway(t)
  const length = 250 * 1024
  const head = `POST ${base}/producers/events HTTP/1.1\r\ncontent-length: ${length + 1}\r\n\r\n`
  const unfinished = Buffer.concat([Buffer.from(head), Buffer.alloc(length)])
  const slow = []
  for (let number = 0; number < 280; number++) slow.push(await sendRaw(t, url, unfinished))
  const [[answer]] = await Promise.all([
    once(slow[0]!.resume(), 'data') as Promise<[Buffer]>,
    call(`${base}/producers/events`, { method: 'POST', body: '{}' }).then(({ status }) => t.equal(status, 200))
  ])
  t.match(String(answer), /^HTTP\/1.1 408 /)
  // The newest can still complete theirs.
  const newest = slow.at(-1)!
  newest.write('x')
  const [completed] = await once(newest.resume(), 'data') as [Buffer]
  t.match(String(completed), /^HTTP\/1.1 200 /)
})

for (const path of [`${base}/locations`, '/openapi.json']) {
  t.test(`responses that are not read hold 64 MiB in all: then the oldest are ended (${path})`, async (t) => {
    const { app, url, call, services: { profile } } = await testGateway(t)
    const text = 'x'.repeat(3.9 * MEBIBYTE)
    profile.documents.set('/openapi.json', { paths: {}, components: { schemas: { Long: { description: text } } } })
    profile.respondWith((_received, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(text))
    })
    // As if the client were far away and read nothing: near ones leave 4 MB to the kernel.
    const holdBack = (socket: Socket) => Object.assign(socket, { _write () {}, _writev () {} })
    app.server.on('connection', holdBack)
    const closed: number[] = []
    for (let number = 0; number < 20; number++) {
      const socket = await sendRaw(t, url, `GET ${path} HTTP/1.1\r\n\r\n`)
      socket.resume().on('close', () => closed.push(number))
    }
    await until(() => closed.length === 4)
    t.ok(Math.max(...closed) < 10, `the oldest: ${closed.join()}`)
    app.server.off('connection', holdBack)
    t.ok((await call(path)).body.length > text.length)
  })
}
