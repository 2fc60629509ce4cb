// It waits for deadlines.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'
import { sendAt } from '../test/send-at.ts'

const base = '/api/mobile/v1'

t.test('a response that arrived while the gateway was busy is no timeout', async (t) => {
  const { call, as, services } = await testGateway(t)
  services.social.respondWith((_received, response) => {
    response.writeHead(200).end()
    // The gateway runs in this process. Its timer is due before it can read the response.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_500)
  })
  t.equal((await call(`${base}/feed`, { headers: as() })).status, 200)
})

// They wait most of the time, so they run side by side.
t.jobs = 8

t.test('a GET is retried once, also the first one, and few are retried while a service fails', async (t) => {
  const { call, as, services } = await testGateway(t)
  const headers = as()
  let failures = 1
  services.social.respondWith((_received, response) => {
    if (failures-- > 0) response.destroy()
    else response.writeHead(200).end()
  })
  t.equal((await call(`${base}/feed`, { headers })).status, 200)
  t.equal(services.social.received.length, 2)

  services.social.received.length = 0
  services.social.respondWith((_received, response) => response.destroy())
  const received = 100
  for (let i = 0; i < received; i++) await call(`${base}/feed`, { headers })
  t.ok(services.social.received.length <= received * 1.1, `${services.social.received.length} of ${received}`)
})

t.test('refusals of an overloaded service do not open its breaker', async (t) => {
  const { call, as, services } = await testGateway(t)
  const headers = as()
  const refusal = JSON.stringify({ success: false, code: 'SERVICE_UNAVAILABLE', error: 'Busy' })
  services.social.respondWith((_received, response) =>
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' }).end(refusal)
  )
  for (let i = 0; i < 30; i++) {
    const answer = await call(`${base}/feed`, { headers })
    t.match(answer, { status: 503, headers: { 'retry-after': '1' } })
    t.equal(answer.body.toString(), refusal)
  }
  t.equal(services.social.received.length, 30, 'each was sent once')
  services.social.respondWith((_received, response) => response.writeHead(200).end())
  t.equal((await call(`${base}/feed`, { headers })).status, 200)
})

t.test('uploads of any length have ten seconds, and their timeouts do not open the breaker', async (t) => {
  const { call, as, services } = await testGateway(t)
  let lastReceivedAt = 0
  services.fitmatch.respondWith(({ url }, response) => {
    if (url === '/fitmatch/settings') response.writeHead(200).end()
    else lastReceivedAt = performance.now()
  })
  // Each as a small file and, above 64 KiB, as a streamed one; of many accounts, as one can only stream two at once.
  const uploads = await Promise.all(
    Array.from(
      { length: 26 },
      (_, n) =>
        call(`${base}/fitmatch/photos`, { method: 'POST', headers: as(), body: Buffer.alloc(n < 22 ? 5_000 : 100_000) })
    )
  )
  for (const { status, ms } of uploads) {
    t.equal(status, 503)
    t.ok(ms > 9_900, `${ms} ms`)
  }
  // A busy machine takes a while until it has sent them all.
  const lastMs = performance.now() - lastReceivedAt
  t.ok(lastMs < 12_000, `${lastMs} ms`)
  const received = services.fitmatch.received.length
  t.equal((await call(`${base}/fitmatch/settings`, { headers: as() })).status, 200)
  t.equal(services.fitmatch.received.length, received + 1)
})

t.test('a sign-in has ten seconds, as its password waits to be hashed', async (t) => {
  const { call, services } = await testGateway(t)
  services.identity.respondWith((_received, response) => {
    setTimeout(() => response.writeHead(200).end('{}'), 4_000)
  })
  t.equal((await call(`${base}/auth/login`, { method: 'POST', body: '{}' })).status, 200)
})

t.test('a 502 of an intermediary is not passed to the client', async (t) => {
  const { call, as, services } = await testGateway(t)
  services.social.respondWith((_received, response) =>
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>nginx 10.0.0.3</h1>')
  )
  const answer = await call(`${base}/feed`, { headers: as() })
  t.equal(answer.status, 503)
  t.match(answer.json(), { code: 'SERVICE_UNAVAILABLE' })
})

t.test('an upload that the service does not read is 503, not 408', async (t) => {
  const { call, as, services } = await testGateway(t)
  const headers = as()
  services.fitmatch.handleWith(() => {})
  const uploads = await Promise.all(
    Array.from(
      { length: 4 },
      () => call(`${base}/fitmatch/photos`, { method: 'POST', headers, body: Buffer.alloc(5_000_000, 1) })
    )
  )
  for (const { status, json, headers } of uploads) {
    t.equal(status, 503)
    t.match(json(), { success: false, code: 'SERVICE_UNAVAILABLE' })
    t.match(headers['retry-after'], /^\d+$/)
  }
  services.fitmatch.handleWith(undefined)
  t.equal((await call(`${base}/fitmatch/settings`, { headers })).status, 200)
})

t.test('clients that do not finish their uploads do not open the breaker', async (t) => {
  const gateway = await testGateway(t)
  const { call, as, services } = gateway
  const headers = as()
  await Promise.all(Array.from({ length: 25 }, async () => {
    const { stop } = sendAt(gateway, { headers, length: 1_000_000, burst: 200_000, bytesPerSecond: 0 })
    await sleep(100)
    stop()
  }))
  await sleep(50)
  t.equal((await call(`${base}/feed`, { headers: as() })).status, 200)
  t.equal(
    (await call(`${base}/media`, { method: 'POST', headers: as(), body: Buffer.alloc(200_000) })).status,
    200,
    'and do not hold connections'
  )
  t.equal(services.social.received.length, 2)
})

t.test('requests in progress are answered when the gateway closes', async (t) => {
  const { app, call, as, services } = await testGateway(t)
  services.social.respondWith((_received, response) => {
    setTimeout(() => response.writeHead(200).end('{}'), 500)
  })
  const answer = call(`${base}/feed`, { headers: as() })
  while (services.social.received.length === 0) await sleep(5)
  const closed = app.close()
  t.equal((await answer).status, 200)
  await closed
})

t.test('slow uploads of one account are each too slow, or too many', async (t) => {
  const gateway = await testGateway(t)
  const slow = { headers: gateway.as(), from: '127.0.0.2', bytesPerSecond: 5 }
  const answers = await Promise.all(Array.from({ length: 16 }, () => sendAt(gateway, slow).answer))
  const statuses = answers.map(({ status }) => status)
  t.ok(statuses.every((status) => status === 408 || status === 503), statuses.join(' '))
})

t.test('six photos of one account at once are all accepted', async (t) => {
  const { call, as, services } = await testGateway(t)
  const headers = as()
  let [running, most] = [0, 0]
  services.profile.respondWith((_received, response) => {
    most = Math.max(most, ++running)
    setTimeout(() => {
      running--
      response.writeHead(200).end()
    }, 100)
  })
  const answers = await Promise.all(
    Array.from(
      { length: 6 },
      () => call(`${base}/onboarding/upload-photo`, { method: 'POST', headers, body: Buffer.alloc(500_000) })
    )
  )
  t.strictSame(answers.map(({ status }) => status), Array(6).fill(200))
  t.equal(most, 2)
})
