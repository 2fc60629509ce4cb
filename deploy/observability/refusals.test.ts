import t from 'tap'
import { registry } from '@tandem/process-kit'
import { until } from '@tandem/test-kit'
import { testGateway } from '../../gateway/test/gateway.ts'

t.test('what the gateway refuses as too much is counted by route', async (t) => {
  const countRefused = async () => {
    const { values } = await registry.getSingleMetric('http_request_duration_seconds')!.get()
    return values.find(({ labels, metricName }: { labels: Record<string, unknown>, metricName?: string }) =>
      metricName?.endsWith('_count') && labels.route === '/api/mobile/v1/auth/login' && labels.status_code === 429
    )?.value ?? 0
  }
  const { call } = await testGateway(t)
  // Other tests of this process may have been refused as well.
  const before = await countRefused()
  const attempt = async () => (await call('/api/mobile/v1/auth/login', { method: 'POST' })).status
  const statuses = await Promise.all(Array.from({ length: 7 }, attempt))
  t.equal(statuses.filter((status) => status === 429).length, 2)
  // A request is counted after its response is sent.
  await until(async () => await countRefused() >= before + 2)
  t.equal(await countRefused(), before + 2)
})
