import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { setLimits, turnOff } from '@tandem/brand-kit/testing'
import { createLogger } from '@tandem/process-kit'
import { until } from '@tandem/test-kit'
import t from 'tap'
import { collectGarbage } from '../test/collect-garbage.ts'
import { testGateway } from '../test/gateway.ts'

const base = '/api/mobile/v1'

type Teardown = Parameters<typeof testGateway>[0]

t.test('a body that is too long is rejected with or without a declared length, and reaches no service', async (t) => {
  const { call, as, services } = await testGateway(t)
  const limits = {
    '/feed': 64 * 1024,
    '/auth/login': 64 * 1024,
    '/media': 55 * 1024 * 1024 + 64 * 1024,
    '/fitmatch/photos': 5 * 1024 * 1024 + 64 * 1024,
    '/fitmatch/verification': 5 * 1024 * 1024 + 64 * 1024,
    '/onboarding/upload-photo': 5 * 1024 * 1024 + 64 * 1024,
    '/fitmatch/chat/m1/messages': Math.floor(7.2 * 1024 * 1024)
  }
  const post = (path: string, body: Buffer | Buffer[]) =>
    call(base + path, { method: 'POST', headers: { ...as(), 'content-type': 'application/octet-stream' }, body })
  for (const [path, limit] of Object.entries(limits)) {
    const fits = Buffer.alloc(limit, 1)
    const long = Buffer.alloc(limit + 1, 1)
    const declared = await post(path, long)
    t.equal(declared.status, 413, `${path}, ${limit + 1} bytes`)
    t.match(declared.json(), { success: false, code: 'PAYLOAD_TOO_LARGE' })
    const undeclared = await post(path, [long.subarray(0, 40_000), long.subarray(40_000)])
    t.equal(undeclared.status, 413, 'without a length')
    t.match(undeclared.json(), { success: false, code: 'PAYLOAD_TOO_LARGE' })
    t.equal((await post(path, fits)).status, 200, `${limit} bytes`)
    t.equal((await post(path, [fits.subarray(0, 40_000), fits.subarray(40_000)])).status, 200, 'without a length')
  }
  const lengths = Object.values(services).flatMap(({ received }) => received.map(({ body }) => body.length))
  const rising = (a: number, b: number) => a - b
  t.strictSame(lengths.sort(rising), Object.values(limits).flatMap((limit) => [limit, limit]).sort(rising))
})

t.test('the longest body with a video is the one of the brand, and without videos that of an image', async (t) => {
  const status = async (length: number) => {
    const { call, as } = await testGateway(t)
    const headers = { ...as(), 'content-type': 'application/octet-stream' }
    return (await call(`${base}/media`, { method: 'POST', headers, body: Buffer.alloc(length) })).status
  }
  const ofImages = 5 * 1024 * 1024 + 64 * 1024
  setLimits(t, { videoMegabytes: 1 })
  t.equal(await status(ofImages + 1024 * 1024), 200)
  t.equal(await status(ofImages + 1024 * 1024 + 1), 413)
  turnOff(t, 'video')
  t.equal(await status(ofImages), 200)
  t.equal(await status(ofImages + 1), 413)
})

t.test('three videos of an account are passed on at once, a fourth waits, and they take no memory', async (t) => {
  const { call, as, services } = await testGateway(t)
  const waiting: Array<() => void> = []
  services.social.handleWith((request, response) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => bytes += chunk.length).on('end', () => {
      const answer = () =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ bytes }))
      if (bytes > 6_000_000) waiting.push(answer)
      else answer()
    })
  })
  const [ana, ben] = [as(), as()]
  const send = async (headers: object, length = 7_000_000) =>
    await call(`${base}/media`, { method: 'POST', headers: { ...headers }, body: Buffer.alloc(length, 1) })
  collectGarbage()
  const before = process.memoryUsage().arrayBuffers
  const three = [send(ana), send(ana), send(ana)]
  while (waiting.length < 3) await sleep(10)
  const fourth = send(ana)
  t.equal((await send(ana, 3_000_000)).status, 200, 'an image does not wait for videos')
  const others = send(ben)
  while (waiting.length < 4) await sleep(10)
  // The five bodies of this test itself, and nothing else. Memory of garbage is freed in the background.
  await until(() => {
    collectGarbage()
    return process.memoryUsage().arrayBuffers - before < 40_000_000
  })
  const refused = await fourth
  t.match(refused, { status: 429, headers: { 'retry-after': '10' } })
  t.match(refused.json(), { code: 'RATE_LIMITED' })
  for (const answer of waiting.splice(0)) answer()
  for (const { status, json } of await Promise.all([...three, others])) {
    t.equal(status, 200)
    t.match(json(), { bytes: 7_000_000 })
  }
  const next = send(ana)
  while (waiting.length < 1) await sleep(10)
  waiting.pop()?.()
  t.equal((await next).status, 200)
})

/** Sends the head of an upload of 7 MB, and its first bytes. */
function beginUpload (t: Teardown, { url, headers }: { url: string, headers: object }, path = '/media') {
  const upload = httpRequest(`${url}${base}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-length': 7_000_000 },
    agent: false
  })
  upload.on('error', () => {}).write(Buffer.alloc(100_000, 1))
  t.teardown(() => upload.destroy())
  return upload
}

t.test('a video and an imported file reach their service while they arrive', async (t) => {
  const { url, as, services } = await testGateway(t)
  for (const [path, service] of [['/media', services.social], ['/imports', services.dashboard]] as const) {
    const arrives = new Promise<IncomingMessage>((resolve) => {
      service.handleWith((request, response) => {
        request.once('data', () => resolve(request)).on('end', () => response.writeHead(201).end('{}'))
      })
    })
    const upload = beginUpload(t, { url, headers: as() }, path)
    t.equal((await arrives).headers['content-length'], '7000000')
    upload.end(Buffer.alloc(6_900_000, 1))
    const [response] = await once(upload, 'response') as [IncomingMessage]
    t.equal(response.statusCode, 201)
  }
})

t.test('a video whose client leaves ends at the service too, frees its place, and is no failure', async (t) => {
  const { call, url, as, services } = await testGateway(t)
  const headers = as()
  for (let turn = 0; turn < 24; turn++) {
    const ends = new Promise<IncomingMessage>((resolve) => {
      services.social.handleWith((request) => {
        request.on('error', () => {}).on('close', () => resolve(request)).once('data', () => upload.destroy())
      })
    })
    const upload = beginUpload(t, { url, headers })
    t.equal((await ends).complete, false)
  }
  services.social.handleWith(undefined)
  const next = await call(`${base}/media`, { method: 'POST', headers, body: Buffer.alloc(7_000_000) })
  t.equal(next.status, 200)
})

t.test('a video is cut off at the service once it is too long, and its client gets 413', async (t) => {
  const { call, as, services } = await testGateway(t)
  const limit = 55 * 1024 * 1024 + 64 * 1024
  const ends = new Promise<boolean>((resolve) => {
    services.social.handleWith((request) => {
      request.on('error', () => {}).on('close', () => resolve(request.complete)).resume()
    })
  })
  const parts = [Buffer.alloc(limit), Buffer.alloc(1)]
  const { status, json } = await call(`${base}/media`, { method: 'POST', headers: as(), body: parts })
  t.equal(status, 413)
  t.match(json(), { success: false, code: 'PAYLOAD_TOO_LARGE' })
  t.equal(await ends, false, 'it has not arrived as a whole')
})

t.test('a video is 503 if its service dies while it arrives, and at once while the breaker is open', async (t) => {
  const { call, url, as, services } = await testGateway(t, { log: createLogger('gateway', 'silent') })
  const headers = as()
  services.social.handleWith((request) => void request.once('data', () => request.socket.destroy()))
  const statuses = []
  for (let turn = 0; turn < 20; turn++) {
    const upload = beginUpload(t, { url, headers })
    const [response] = await once(upload, 'response') as [IncomingMessage]
    statuses.push(response.statusCode)
    upload.destroy()
  }
  t.strictSame(new Set(statuses), new Set([503]))
  let reached = 0
  services.social.handleWith((request, response) => {
    reached++
    request.resume().on('end', () => response.writeHead(200).end())
  })
  const video = { method: 'POST', headers, body: Buffer.alloc(7_000_000) }
  t.equal((await call(`${base}/media`, video)).status, 503)
  await sleep(2_100)
  t.equal((await call(`${base}/media`, video)).status, 503, 'no probe')
  t.equal(reached, 0)
  t.equal((await call(`${base}/feed`, { headers })).status, 200, 'a probe')
  t.equal((await call(`${base}/media`, video)).status, 200)
})

t.test('a compressed body is 415, not reported as broken JSON', async (t) => {
  const { call, as, services } = await testGateway(t)
  const post = (encoding: string) =>
    call(`${base}/logs/batch`, {
      method: 'POST',
      headers: { ...as(), 'content-type': 'application/json', 'content-encoding': encoding },
      body: gzipSync('{}')
    })
  const refused = await post('gzip')
  t.equal(refused.status, 415)
  t.match(refused.json(), { success: false, code: 'UNSUPPORTED_MEDIA_TYPE' })
  t.equal(services.dashboard.received.length, 0)
  t.equal((await post('identity')).status, 200)
})

t.test('four long messages at once are accepted, the fifth is 503, short ones pass', async (t) => {
  const { call, as, services } = await testGateway(t)
  const waiting: Array<() => void> = []
  services.fitmatch.respondWith((received, response) => {
    const answer = () => response.writeHead(201, { 'content-type': 'application/json' }).end('{"success":true}')
    if (received.body.length > 65_536) waiting.push(answer)
    else answer()
  })
  const send = (size: number) =>
    call(`${base}/fitmatch/chat/m1/messages`, { method: 'POST', headers: as(), body: Buffer.alloc(size, 1) })
  const four = [1, 2, 3, 4].map(() => send(3_000_000))
  while (waiting.length < 4) await sleep(10)
  const fifth = await send(3_000_000)
  t.match(fifth, { status: 503, headers: { 'retry-after': /\d/ } })
  t.match(fifth.json(), { code: 'SERVICE_UNAVAILABLE' })
  t.equal((await send(500)).status, 201)
  for (const answer of waiting) answer()
  t.strictSame((await Promise.all(four)).map(({ status }) => status), [201, 201, 201, 201])
  services.fitmatch.respondWith((_received, response) => response.writeHead(201).end())
  t.equal((await send(3_000_000)).status, 201)
})

t.test('one account cannot take all the slots for long messages', async (t) => {
  const { call, as, services } = await testGateway(t)
  const [slow, other] = [as(), as()]
  const waiting: Array<() => void> = []
  services.fitmatch.respondWith((_received, response) => {
    waiting.push(() => response.writeHead(201).end())
  })
  const send = (headers: object) =>
    call(`${base}/fitmatch/chat/m1/messages`, {
      method: 'POST',
      headers: { ...headers },
      body: Buffer.alloc(100_000, 1)
    })
  const two = [send(slow), send(slow)]
  while (waiting.length < 2) await sleep(10)
  t.equal((await send(slow)).status, 503)
  const another = send(other)
  while (waiting.length < 3) await sleep(10)
  for (const answer of waiting) answer()
  t.strictSame((await Promise.all([...two, another])).map(({ status }) => status), [201, 201, 201])
  services.fitmatch.respondWith((_received, response) => response.writeHead(201).end())
  t.equal((await send(slow)).status, 201)
})

t.test('the response of a service that rejects an upload before reading it reaches the client', async (t) => {
  const { call, as, services } = await testGateway(t)
  services.social.handleWith((request, response) => {
    response.writeHead(415, { 'content-type': 'application/json' }).end(
      '{"success":false,"code":"UNSUPPORTED_MEDIA_TYPE"}'
    )
    request.resume()
  })
  for (const length of [5_000_000, 20_000_000]) {
    const answer = await call(`${base}/media`, { method: 'POST', headers: as(), body: Buffer.alloc(length, 1) })
    t.equal(answer.status, 415, `${length} bytes`)
  }
})

t.test('a long response is passed on completely, from a streamed route and from any other', async (t) => {
  const { call, as, services } = await testGateway(t)
  const long = Buffer.alloc(3_000_000, 'abc')
  services.fitmatch.respondWith((_received, response) =>
    response.writeHead(200, { 'content-type': 'image/webp' }).end(long)
  )
  const other = await call(`${base}/fitmatch/photos/1`, { headers: as() })
  t.equal(other.status, 200)
  t.ok(other.body.equals(long))
  const streamed = await call(`${base}/fitmatch/photos`, { method: 'POST', headers: as(), body: Buffer.alloc(100_000) })
  t.equal(streamed.status, 200)
  t.ok(streamed.body.equals(long))
})

t.test('a response of a streamed route reaches the client while the service still sends', async (t) => {
  const { url, as, services } = await testGateway(t)
  let finish: (() => void) | undefined
  services.social.respondWith((_received, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).write('first')
    finish = () => response.end('second')
  })
  const response = await fetch(`${url}${base}/media`, { method: 'POST', headers: as(), body: Buffer.alloc(100_000) })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  t.strictSame(await reader?.read(), { done: false, value: 'first' })
  finish?.()
  t.strictSame(await reader?.read(), { done: false, value: 'second' })
})

t.test('a response above 4 MiB of a route that is not streamed is 500, and does not open the breaker', async (t) => {
  const { call, as, services } = await testGateway(t, { log: createLogger('gateway', 'silent') })
  const headers = as()
  services.social.respondWith((_received, response) => response.writeHead(200).end(Buffer.alloc(4 * 1024 * 1024 + 1)))
  for (let i = 0; i < 22; i++) {
    const { status, json } = await call(`${base}/feed`, { headers })
    t.equal(status, 500)
    t.match(json(), { success: false, code: 'SERVER_ERROR' })
  }
  services.social.respondWith((_received, response) => response.writeHead(200).end())
  t.equal((await call(`${base}/feed`, { headers })).status, 200)
})
