import { setTimeout as wait } from 'node:timers/promises'
import { Gauge } from 'prom-client'
import t from 'tap'
import { Degraded, registry, serveMetrics } from '@tandem/process-kit'
import { testServer } from './testing.ts'

const down = async () => {
  throw new Error('unavailable')
}

t.test('readiness names failing checks, and fails only for required ones', async (t) => {
  const app = await testServer(t, undefined, {
    checks: { postgres: { check: async () => 1, required: true }, redis: { check: down, required: false } }
  })
  const ready = await app.inject('/health/ready')
  t.equal(ready.statusCode, 200)
  t.strictSame(ready.json(), { status: 'ready', degraded: true, down: ['redis'] })

  const broken = await testServer(t, undefined, {
    checks: { postgres: { check: down, required: true }, nats: { check: async () => false, required: false } }
  })
  const answer = await broken.inject('/health/ready')
  t.equal(answer.statusCode, 503)
  t.strictSame(answer.json(), { status: 'not ready', degraded: true, down: ['postgres', 'nats'] })
  t.equal((await broken.inject('/health/live')).statusCode, 200, 'a process without its database is alive')
})

t.test('readiness gives the reason of a degraded part, and the failing parts of a dependency', async (t) => {
  const reason = '3 emails wait'
  let isWaiting = true
  const app = await testServer(t, undefined, {
    checks: {
      mail: {
        check: async () => {
          if (isWaiting) throw new Degraded(reason)
        },
        required: false
      },
      social: { check: async () => isWaiting ? ['nats'] : [], required: false }
    }
  })
  t.strictSame((await app.inject('/health/ready')).json(), {
    status: 'ready',
    degraded: true,
    down: ['mail', 'social.nats'],
    reasons: { mail: reason }
  })
  isWaiting = false
  await wait(1_050)
  const metrics = await registry.metrics()
  t.match(metrics, 'health_check_failing{check="mail"} 0', 'the metric runs the checks itself')
  t.notMatch(metrics, /check="social.nats"/)
})

t.test('a public readiness endpoint exposes failing checks in metrics only', async (t) => {
  const app = await testServer(t, undefined, {
    exposesFailingChecks: false,
    checks: { postgres: { check: async () => 1, required: true }, 'the-cache': { check: down, required: false } }
  })
  t.strictSame((await app.inject('/health/ready')).json(), { status: 'ready', degraded: true })
  const metrics = await registry.metrics()
  t.match(metrics, 'health_check_failing{check="the-cache"} 1')
  t.match(metrics, 'health_check_failing{check="postgres"} 0')
})

t.test('a check that hangs counts as failed after a second, and probes share one check', async (t) => {
  let checks = 0
  const app = await testServer(t, undefined, {
    checks: {
      postgres: {
        check: () => {
          checks++
          return wait(60_000, undefined, { ref: false })
        },
        required: true
      }
    }
  })
  const start = Date.now()
  const answers = await Promise.all([1, 2, 3].map(() => app.inject('/health/ready')))
  t.ok(answers.every(({ statusCode }) => statusCode === 503))
  t.ok(Date.now() - start < 20_000, 'long before the check ends')
  t.equal(checks, 1)
})

t.test('a closing server is not ready, and still completes open requests', async (t) => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const app = await testServer(t, async (app) => {
    app.get('/slow', { config: { public: true } }, async () => {
      await held
      return { done: true }
    })
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const slow = fetch(`${address}/slow`)
  await wait(50)
  const closed = app.close()
  await wait(20)
  release()
  const answer = await slow
  t.equal(answer.status, 200)
  t.strictSame(await answer.json(), { done: true })
  await closed
})

t.test('metrics count requests by route and have a port of their own', async (t) => {
  const app = await testServer(t)
  t.equal((await app.inject('/metrics')).statusCode, 404)
  const server = await serveMetrics(0)
  t.teardown(server.close)
  t.match(await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text(), 'process_cpu_user_seconds_total')
  t.ok(registry.getSingleMetric('http_request_duration_seconds'))
  t.equal((await fetch(`http://127.0.0.1:${server.port}/`)).status, 404)
  t.equal((await serveMetrics(undefined)).port, undefined)
})

t.test('a metric that cannot be read, as one of a server that is down, leaves out none of the others', async (t) => {
  const broken = new Gauge({ name: 'broken_metric', help: 'Asks a server that is down', collect: down })
  t.teardown(() => registry.removeSingleMetric('broken_metric'))
  broken.set(1)
  const server = await serveMetrics(0)
  t.teardown(server.close)
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`)
  const text = await response.text()
  t.equal(response.status, 200)
  t.match(text, 'health_check_failing')
  t.notMatch(text, 'broken_metric 1')
  t.match(text, 'metrics_unread{metric="broken_metric"} 1', 'an alert knows of it')
})
