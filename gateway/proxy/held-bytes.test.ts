import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { mediaSigningKey } from '@tandem/media-url-kit/testing'
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

t.test('of bodies of one byte that do not arrive, two thousand are held', async (t) => {
  const { url } = await testGateway(t)
  const unfinished = `POST ${base}/producers/events HTTP/1.1\r\ncontent-length: 2\r\n\r\n{`
  const oldest = await sendRaw(t, url, unfinished)
  const ended = once(oldest.resume(), 'data') as Promise<[Buffer]>
  for (let batch = 0; batch < 21; batch++) {
    await Promise.all(Array.from({ length: 100 }, async () => await sendRaw(t, url, unfinished)))
  }
  // With the id of a request: what takes 15 s to arrive is a 408 without one.
  t.match(String(await ended), /^HTTP\/1.1 408 [^]*x-request-id/)
})

// As if the client were far away and read nothing: near ones leave 4 MB to the kernel.
const holdBack = (socket: Socket) => Object.assign(socket, { _write () {}, _writev () {} })

for (const path of [`${base}/locations`, '/openapi.json']) {
  t.test(`responses that are not read hold 64 MiB in all: then the oldest are ended (${path})`, async (t) => {
    const { app, url, call, services: { profile } } = await testGateway(t)
    const text = 'x'.repeat(3.9 * MEBIBYTE)
    profile.documents.set('/openapi.json', { paths: {}, components: { schemas: { Long: { description: text } } } })
    profile.respondWith((_received, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(text))
    })
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

t.test('files that are not read hold 128 MiB in all: then the oldest are ended', async (t) => {
  const name = '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e0f.webp'
  const folder = t.testdir({ media: { public: { [name]: 'x'.repeat(MEBIBYTE) } } })
  const env = { MEDIA_DIR: path.join(folder, 'media'), MEDIA_SIGNING_KEY: mediaSigningKey }
  const { app, url, call } = await testGateway(t, { env })
  const accepted: Socket[] = []
  app.server.on('connection', holdBack).on('connection', (socket) => void accepted.push(socket))
  const closed: number[] = []
  const open = async (number: number) => {
    const socket = await sendRaw(t, url, `GET /media/public/${name} HTTP/1.1\r\n\r\n`)
    socket.resume().on('close', () => closed.push(number))
  }
  for (let first = 0; first < 1_100; first += 100) {
    await Promise.all(Array.from({ length: 100 }, async (_, number) => await open(first + number)))
  }
  await until(() => closed.length > 50)
  t.ok(Math.max(...closed) < 500, `the oldest: ${closed.join()}`)
  app.server.off('connection', holdBack)
  t.equal((await call(`/media/public/${name}`)).body.length, MEBIBYTE)
  // They could not be closed in order.
  for (const socket of accepted) socket.destroy()
})
