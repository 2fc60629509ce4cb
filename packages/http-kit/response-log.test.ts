import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api'
import t from 'tap'
import { Type } from 'typebox'
import { createLogger, traceId } from '@tandem/process-kit'
import { data } from './envelope.ts'
import { bearer, testServer } from './testing.ts'

function captureLog () {
  const lines: Array<Record<string, unknown>> = []
  return {
    lines,
    log: createLogger('test', 'info', {
      write: (line: string) => {
        lines.push(JSON.parse(line))
      }
    })
  }
}

t.test('a response is one line, with the route and the path but no query', async (t) => {
  const { lines, log } = captureLog()
  const app = await testServer(t, async (app) => {
    app.get('/reset/:id', { config: { public: true } }, async () => data({}))
  }, { log })
  const answer = await app.inject('/reset/5?token=s3cret')
  await app.inject('/health/live')
  await new Promise(setImmediate)
  t.equal(lines.length, 1)
  t.match(lines[0], {
    level: 'info',
    name: 'test',
    msg: 'request completed',
    method: 'GET',
    route: '/reset/:id',
    path: '/reset/5',
    status: 200,
    ms: Number,
    traceId: /^[0-9a-f]{32}$/,
    requestId: answer.headers['x-request-id']
  })
  t.notMatch(JSON.stringify(lines), 's3cret')
})

t.test('in a sample, one in sixteen fast successes is logged, and every error and slow response', async (t) => {
  const { lines, log } = captureLog()
  const app = await testServer(t, async (app) => {
    app.get('/fast', { config: { public: true } }, async () => data({}))
    app.get('/slow', { config: { public: true } }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_020))
      return data({})
    })
  }, { log, samplesLog: true })
  const ids: string[] = []
  for (let request = 0; request < 200; request++) {
    ids.push(String((await app.inject('/fast')).headers['x-request-id']))
  }
  await new Promise(setImmediate)
  const expected = ids.filter((id) => id.startsWith('0'))
  t.strictSame(lines.map((line) => line['requestId']), expected)
  lines.length = 0
  await Promise.all(Array.from({ length: 8 }, () => app.inject('/slow')))
  for (let request = 0; request < 8; request++) await app.inject('/nowhere')
  await new Promise(setImmediate)
  t.equal(lines.filter(({ route }) => route === '/slow').length, 8)
  t.equal(lines.filter(({ status }) => status === 404).length, 8)

  const debug = createLogger('test', 'debug', { write: (line: string) => lines.push(JSON.parse(line)) })
  const verbose = await testServer(t, undefined, { log: debug, samplesLog: true })
  lines.length = 0
  for (let request = 0; request < 20; request++) await verbose.inject('/nowhere')
  await new Promise(setImmediate)
  t.equal(lines.filter(({ msg }) => msg === 'request completed').length, 20)
})

t.test('an internal error is logged once, in the trace of its request', async (t) => {
  const { lines, log } = captureLog()
  const app = await testServer(t, async (app) => {
    app.get('/boom', { config: { public: true } }, async () => {
      throw new Error('broken')
    })
  }, { log })
  await app.inject('/boom')
  await new Promise(setImmediate)
  t.match(lines, [{ level: 'error', err: { message: 'broken' } }, { status: 500 }])
  t.equal(lines[0]?.traceId, lines[1]?.traceId)
})

t.test('a trace continues from caller to callee', async (t) => {
  const { lines, log } = captureLog()
  const app = await testServer(t, async (app) => {
    app.post('/call', { schema: { body: Type.Object({}) } }, async () => {
      const headers: Record<string, string> = {}
      await new Promise(setImmediate)
      propagation.inject(context.active(), headers)
      log.info('in an action')
      return data({ headers, id: traceId() })
    })
  }, { log })
  const id = '4bf92f3577b34da6a3ce929d0e0e4736'
  const call = async (traceparent?: string) => {
    const headers = { ...bearer('ana'), ...(traceparent && { traceparent }) }
    return (await app.inject({ method: 'POST', url: '/call', headers, payload: {} })).json().data
  }
  const continued = await call(`00-${id}-00f067aa0ba902b7-01`)
  t.equal(continued.id, id)
  t.match(continued.headers.traceparent, id)
  t.ok(lines.every(({ traceId }) => traceId === id))

  for (
    const wrong of [
      undefined,
      'x'.repeat(8_000),
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      '00-nonsense',
      `${id}, ${id}`
    ]
  ) {
    const started = await call(wrong)
    t.match(started.id, /^[0-9a-f]{32}$/)
    t.not(started.id, id)
  }
})

t.test('the server chooses the request id, whatever the caller sends', async (t) => {
  const app = await testServer(t)
  const ids = await Promise.all(
    [1, 2].map(async () =>
      (await app.inject({ url: '/', headers: { 'x-request-id': 'mine', 'request-id': 'mine' } }))
        .headers['x-request-id']
    )
  )
  t.match(ids[0], /^[0-9a-f-]{36}$/)
  t.not(ids[0], ids[1])
})

t.test('every line of a request has its id and account, and none of another request', async (t) => {
  const { lines, log } = captureLog()
  const waiting: Array<() => void> = []
  const app = await testServer(t, async (app) => {
    app.get('/wait/:id', async ({ log: requestLog, params }) => {
      const { id } = params as { id: string }
      await new Promise<void>((resolve) => waiting.push(resolve))
      log.info({ id }, 'in an action')
      // As in a callback of a shared connection, which runs in the context of another request.
      context.with(ROOT_CONTEXT, () => requestLog.info({ id }, 'in a callback'))
      return data({})
    })
  }, { log })
  const calls = ['ana', 'ben'].map((id) => app.inject({ url: `/wait/${id}`, headers: bearer(id) }))
  while (waiting.length < 2) await new Promise(setImmediate)
  for (const resume of waiting) resume()
  const ids = (await Promise.all(calls)).map(({ headers }) => headers['x-request-id'])
  await new Promise(setImmediate)
  for (const [number, requestId] of ids.entries()) {
    const own = lines.filter((line) => line['requestId'] === requestId)
    t.equal(own.length, 3)
    t.equal(new Set(own.map(({ traceId }) => traceId)).size, 1)
    t.equal(new Set(own.map(({ accountId }) => accountId)).size, 1)
    for (const line of own.slice(0, 2)) t.equal(line['id'], ['ana', 'ben'][number])
  }
  t.not(lines[0]?.['traceId'], lines.at(-1)?.['traceId'])
})
