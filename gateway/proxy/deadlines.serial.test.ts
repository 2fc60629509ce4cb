// Serial, because it measures response times.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'
import { sendAt } from '../test/send-at.ts'

const base = '/api/mobile/v1'

t.test('an unavailable service is 503 within 100 ms, and others are not affected', async (t) => {
  const { call, as, services } = await testGateway(t)
  const headers = as()
  await call(`${base}/feed`, { headers })
  await services.social.stop()
  for (let i = 0; i < 30; i++) {
    const answer = await call(`${base}/feed`, { headers, method: i % 2 ? 'POST' : 'GET' })
    t.equal(answer.status, 503)
    t.match(answer.json(), { success: false, code: 'SERVICE_UNAVAILABLE' })
    t.match(answer.headers['retry-after'], /^\d+$/)
    t.notMatch(answer.body.toString(), /ECONN|127\.0/)
    t.ok(answer.ms < 100, `${answer.ms} ms`)
  }
  t.equal((await call(`${base}/logs`, { headers })).status, 200)
  t.equal((await call('/health/ready')).status, 200, 'the gateway stays ready')
})

t.test('the breaker opens, and closes when the service responds again', async (t) => {
  const { call, as, services } = await testGateway(t)
  const headers = as()
  services.social.respondWith((_received, response) => response.destroy())
  const post = () => call(`${base}/feed`, { method: 'POST', headers })
  for (let i = 0; i < 20; i++) t.equal((await post()).status, 503)
  const received = services.social.received.length
  t.equal(received, 20, 'a POST is not sent twice')
  const answers = await Promise.all(Array.from({ length: 20 }, post))
  t.ok(answers.every(({ status }) => status === 503))
  // Alone, as twenty at once take that long themselves on a busy machine.
  const { status, ms } = await post()
  t.ok(status === 503 && ms < 100, `${ms} ms`)
  t.equal(services.social.received.length, received, 'an open breaker sends no request')

  services.social.respondWith((_received, response) => response.writeHead(200).end())
  await sleep(2_050)
  t.equal((await post()).status, 200)
  t.equal((await post()).status, 200)
})

// They wait most of the time, so they run side by side.
t.jobs = 8

t.test('a service that is too slow is 503 after three seconds', async (t) => {
  const { call, as, services } = await testGateway(t)
  services.social.respondWith(() => {})
  services.dashboard.respondWith((_received, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{')
  })
  const [silent, halting] = await Promise.all([
    call(`${base}/feed`, { headers: as() }),
    call(`${base}/logs`, { headers: as() })
  ])
  for (const answer of [silent, halting]) {
    t.equal(answer.status, 503)
    t.ok(answer.ms > 2_900 && answer.ms < 3_400, `${answer.ms} ms`)
  }
  t.equal(services.social.received.length, 1, 'a timeout is not retried')
})

t.test('timeouts of ordinary requests open the breaker', async (t) => {
  const { call, as, services } = await testGateway(t)
  services.social.respondWith(() => {})
  await Promise.all(Array.from({ length: 20 }, () => call(`${base}/feed`, { headers: as() })))
  const { status, ms } = await call(`${base}/feed`, { headers: as() })
  t.equal(status, 503)
  t.ok(ms < 500, `${ms} ms`)
})

t.test('slow uploads of one account do not block those of others', async (t) => {
  const gateway = await testGateway(t)
  const { call, as } = gateway
  const slow = { headers: as(), from: '127.0.0.2', bytesPerSecond: 5 }
  const sendings = Array.from({ length: 16 }, () => sendAt(gateway, slow))
  await sleep(300)
  const upload = () => call(`${base}/media`, { method: 'POST', headers: as(), body: Buffer.alloc(264 * 1024, 1) })
  for (let turn = 0; turn < 6; turn++) {
    const answer = await upload()
    t.equal(answer.status, 200)
    t.ok(answer.ms < 500, `${answer.ms} ms`)
    await sleep(500)
  }
  for (const { stop } of sendings) stop()
})
