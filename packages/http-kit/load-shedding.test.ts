import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { data } from './envelope.ts'
import { testServer } from './testing.ts'

function block (ms: number) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** Keeps the event loop busy, in iterations of `ms`. */
function overload (ms: number) {
  let isOver = false
  const blockAgain = () => {
    block(ms)
    if (!isOver) setImmediate(blockAgain)
  }
  blockAgain()
  return () => {
    isOver = true
  }
}

t.test('a start that takes long does not count as pressure, before and after the server listens', async (t) => {
  const app = await testServer(t, async (app) => {
    app.get('/work', { config: { public: true } }, async () => data({}))
    block(1_200)
  }, { loadShedding: true })
  await app.listen({ host: '127.0.0.1', port: 0 })
  block(1_200)
  t.equal((await app.inject('/health/live')).statusCode, 200)
  block(1_200)
  await sleep(1)
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
