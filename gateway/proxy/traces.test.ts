import { randomUUID } from 'node:crypto'
import { createLogger } from '@tandem/process-kit'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const base = '/api/mobile/v1'

t.test('a trace is continued', async (t) => {
  const { call, as, services } = await testGateway(t)
  const id = '0af7651916cd43dd8448eb211c80319c'
  await call(`${base}/feed`, { headers: { ...as(), traceparent: `00-${id}-b7ad6b7169203331-01` } })
  t.match(services.social.received[0]?.headers['traceparent'], new RegExp(`^00-${id}-[0-9a-f]{16}-01$`))
})

t.test('each request is logged under its own trace, although requests share connections to a service', async (t) => {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('gateway', 'info', {
    write: (line) => {
      lines.push(JSON.parse(line) as Record<string, unknown>)
    }
  })
  const { call, as, services } = await testGateway(t, { log })
  services.profile.respondWith((_received, response) => response.destroy())
  const traces = new Map<string, string>()
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 40 }, async (_, number) => {
      const path = `${base}/${number % 4 ? 'feed' : 'profile'}/${round}-${number}`
      const id = randomUUID().replaceAll('-', '')
      traces.set(path, id)
      await call(path, { headers: { ...as(), traceparent: `00-${id}-b7ad6b7169203331-01` } })
    }))
  }
  const logged = lines.filter((line) => line['msg'] === 'request completed').map((
    line
  ) => [line['path'], line['traceId']])
  t.strictSame(new Map(logged as [string, string][]), traces)
  // Errors are logged in the same trace, with the id of the request.
  const byRequest = new Map(
    lines.filter((line) => line['msg'] === 'request completed').map((line) => [line['requestId'], line['traceId']])
  )
  const failures = lines.filter((line) => line['err'] !== undefined && line['requestId'] !== undefined)
  t.ok(failures.length > 0)
  for (const failure of failures) t.equal(failure['traceId'], byRequest.get(failure['requestId']))
})
