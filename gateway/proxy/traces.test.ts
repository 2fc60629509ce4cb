import { randomUUID } from 'node:crypto'
import { createLogger } from '@tandem/process-kit'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const base = '/api/mobile/v1'

t.test('each request gets its own trace, whatever a client sends', async (t) => {
  const { call, as, services } = await testGateway(t, { env: { TRUST_PROXY: '127.0.0.1' } })
  const id = '0af7651916cd43dd8448eb211c80319c'
  const chosen = { traceparent: `00-${id}-b7ad6b7169203331-01`, 'x-request-id': randomUUID() }
  const answer = await call(`${base}/feed`, { headers: { ...as(), ...chosen } })
  const { traceparent, 'x-request-id': requestId } = services.social.received[0]?.headers ?? {}
  t.match(traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  t.notMatch(traceparent, id)
  t.not(requestId, chosen['x-request-id'])
  t.equal(requestId, answer.headers['x-request-id'], 'the client, the service and the logs have the same id')
})

t.test('each line of a request has its ids, although requests share connections to a service', async (t) => {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('gateway', 'info', {
    write: (line) => {
      lines.push(JSON.parse(line) as Record<string, unknown>)
    }
  })
  const { call, as, services } = await testGateway(t, { log })
  services.profile.respondWith((_received, response) => response.destroy())
  const expected = new Map<string, object>()
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 40 }, async (_, number) => {
      const accountId = randomUUID()
      const upstream = number % 4 ? 'social' : 'profile'
      const isUpload = number % 8 === 1
      const path = isUpload ? `/media` : `/${upstream === 'social' ? 'feed' : 'profile'}/${round}-${number}`
      const upload = isUpload ? { method: 'POST', body: Buffer.alloc(100_000) } : {}
      const { headers } = await call(base + path, { headers: as(randomUUID(), { sub: accountId }), ...upload })
      expected.set(String(headers['x-request-id']), { accountId, upstream })
    }))
  }
  const pick = ({ accountId, upstream }: Record<string, unknown>) => ({ accountId, upstream })
  const completed = new Map(
    lines.filter(({ msg }) => msg === 'request completed').map((line) => [String(line['requestId']), line])
  )
  t.strictSame(new Map([...completed].map(([id, line]) => [id, pick(line)])), expected)
  t.equal(new Set([...completed.values()].map(({ traceId }) => traceId)).size, expected.size)
  for (const { headers } of [...services.social.received, ...services.profile.received]) {
    const traceId = completed.get(String(headers['x-request-id']))?.['traceId']
    t.match(headers['traceparent'], `-${String(traceId)}-`, 'the service continues the trace')
  }
  const failures = lines.filter(({ err, requestId }) => err !== undefined && requestId !== undefined)
  t.ok(failures.length > 0)
  for (const failure of failures) {
    const { traceId, ...line } = completed.get(String(failure['requestId'])) ?? {}
    t.strictSame(pick(failure), pick(line))
    t.equal(failure['traceId'], traceId)
  }
})
