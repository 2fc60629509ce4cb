import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { data } from './envelope.ts'
import { testServer } from './testing.ts'

/** Keeps the event loop busy, in iterations of `ms`. */
function overload (ms: number) {
  let isOver = false
  const block = () => {
    const end = performance.now() + ms
    while (performance.now() < end);
    if (!isOver) setImmediate(block)
  }
  block()
  return () => {
    isOver = true
  }
}

t.test('a start that takes long does not count as pressure', async (t) => {
  const app = await testServer(t, async (app) => {
    app.get('/work', { config: { public: true } }, async () => data({}))
    const end = performance.now() + 1_500
    while (performance.now() < end);
  }, { loadShedding: true })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.equal((await app.inject('/work')).statusCode, 200)
})

t.test('while the event loop is late, requests are refused at once, but no probe', async (t) => {
  const app = await testServer(t, async (app) => {
    app.get('/work', { config: { public: true } }, async () => data({}))
  }, { loadShedding: true })
  const get = async (path: string) => (await app.inject(path)).statusCode
  t.equal(await get('/work'), 200)
  const stop = overload(300)
  while (await get('/work') === 200) await sleep(20)
  t.equal(await get('/health/live'), 200)
  t.match((await app.inject('/work')).json(), { code: 'SERVICE_UNAVAILABLE' })
  stop()
  while (await get('/work') === 503) await sleep(20)
})
