// Waiting: the event loop of its servers is late for seconds.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { data } from './envelope.ts'
import { testServer } from './testing.ts'

const blocked = new Int32Array(new SharedArrayBuffer(4))

/** Makes each iteration of the event loop take `ms`, until the returned function is called. Uses no processor time. */
function delayEventLoop (ms: number) {
  let timer = setImmediate(function again () {
    Atomics.wait(blocked, 0, 0, ms)
    timer = setImmediate(again)
  })
  return () => clearImmediate(timer)
}

const MAX_MS = 500

async function overloadedServer (
  t: Parameters<typeof testServer>[0],
  limit: { maxEventLoopDelayMs?: number } = { maxEventLoopDelayMs: MAX_MS }
) {
  const app = await testServer(t, async (app) => {
    app.get('/work', { config: { public: true } }, async () => data({}))
    app.get('/internal/keys', { config: { public: true } }, async () => data({}))
    app.get('/docs', { config: { public: true, neverRefused: true } }, async () => data({}))
  }, limit)
  return async (path: string) => (await app.inject(path)).statusCode
}

t.test('a core that is fully used refuses nothing while requests wait less than the maximum', async (t) => {
  const get = await overloadedServer(t)
  const stop = delayEventLoop(100)
  t.teardown(stop)
  const end = performance.now() + 2_500
  while (performance.now() < end) {
    t.equal(await get('/work'), 200)
    await sleep(20)
  }
})

t.test('while requests would wait longer, they are refused with a time to retry after', async (t) => {
  const app = await testServer(t, async (app) => {
    app.get('/work', { config: { public: true } }, async () => data({}))
  }, { maxEventLoopDelayMs: MAX_MS })
  const stop = delayEventLoop(MAX_MS * 1.5)
  t.teardown(stop)
  let refusal = await app.inject('/work')
  while (refusal.statusCode === 200) {
    await sleep(20)
    refusal = await app.inject('/work')
  }
  t.match(refusal, { statusCode: 503, headers: { 'retry-after': '1' } })
  t.match(refusal.json(), { success: false, code: 'SERVICE_UNAVAILABLE' })

  stop()
  const since = performance.now()
  while ((await app.inject('/work')).statusCode === 503) await sleep(20)
  t.ok(performance.now() - since < 2_000, 'well again within two seconds')
})

t.test('probes and gateways are never refused', async (t) => {
  const get = await overloadedServer(t)
  const stop = delayEventLoop(MAX_MS * 1.5)
  t.teardown(stop)
  while (await get('/work') === 200) await sleep(20)
  t.strictSame(
    [await get('/health/live'), await get('/health/ready'), await get('/internal/keys'), await get('/docs')],
    [200, 200, 200, 200]
  )
  t.equal(await get('/work'), 503, 'and the others still are')
})

t.test('by default nothing is refused', async (t) => {
  const get = await overloadedServer(t, {})
  const stop = delayEventLoop(MAX_MS * 1.5)
  t.teardown(stop)
  const end = performance.now() + 4_000
  while (performance.now() < end) {
    t.equal(await get('/work'), 200)
    // Requests alone would not let the event loop go on, so it would not be late.
    await sleep(20)
  }
})
