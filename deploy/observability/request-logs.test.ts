import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { withStack } from '@tandem/rehearsals/kit/stack.ts'
import { verifyLines } from './request-lines.ts'

t.setTimeout(240_000)

t.test('where spans are exported, every line of a request has one trace, its request id and its account', async (t) => {
  let exports = 0
  const collector = createServer((request, response) => {
    exports++
    request.resume().on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  t.teardown(() => collector.close())
  const { port } = collector.address() as AddressInfo
  await withStack(async (stack, dataDir) => await verifyLines(t, stack, dataDir), {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_BSP_SCHEDULE_DELAY: '100'
  })
  t.ok(exports > 0)
})
