import t from 'tap'
import { registry } from '@tandem/process-kit'
import { testGateway } from '../../gateway/test/gateway.ts'

t.test('what the gateway refuses as too much is counted by route', async (t) => {
  const { call } = await testGateway(t)
  // Other tests of this process count as well.
  registry.resetMetrics()
  const attempt = async () => (await call('/api/mobile/v1/auth/login', { method: 'POST' })).status
  const statuses = await Promise.all(Array.from({ length: 7 }, attempt))
  t.equal(statuses.filter((status) => status === 429).length, 2)
  const { values } = await registry.getSingleMetric('http_request_duration_seconds')!.get()
  t.match(
    values.find(({ labels, metricName }: { labels: Record<string, unknown>, metricName?: string }) =>
      metricName?.endsWith('_count') && labels.route === '/api/mobile/v1/auth/login' && labels.status_code === 429
    ),
    { value: 2 }
  )
})
