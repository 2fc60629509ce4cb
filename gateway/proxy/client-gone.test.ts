import { once } from 'node:events'
import { request, type ServerResponse } from 'node:http'
import { createLogger } from '@tandem/process-kit'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const base = '/api/mobile/v1'
const requests = [
  ['a GET', 'GET', '/feed', 0],
  ['a short body', 'POST', '/feed', 100],
  ['an upload', 'POST', '/media', 300_000]
] as const

t.test('a client that leaves while the service works ends the request there, and is no failure of ours', async (t) => {
  const errors: unknown[] = []
  const log = createLogger('gateway', 'error', { write: (line) => void errors.push(JSON.parse(line)) })
  const { url, as, call, services } = await testGateway(t, { log })
  for (const [what, method, path, length] of requests) {
    for (let round = 0; round < 25; round++) {
      const arrived = Promise.withResolvers<ServerResponse>()
      services.social.respondWith((_received, response) => arrived.resolve(response))
      const client = request(`${url}${base}${path}`, {
        method,
        agent: false,
        headers: { ...as(), 'content-type': 'application/octet-stream', 'content-length': length }
      })
      client.on('error', () => {})
      client.end(Buffer.alloc(length, 1))
      const response = await arrived.promise
      client.destroy()
      await once(response, 'close', { signal: AbortSignal.timeout(2_000) })
      t.notOk(response.writableFinished, `${what}, round ${round}`)
    }
  }
  t.strictSame(errors, [])
  services.social.respondWith((_received, response) => response.writeHead(200).end())
  t.equal((await call(`${base}/feed`, { headers: as() })).status, 200)
  t.equal((await call(`${base}/media`, { method: 'POST', headers: as(), body: Buffer.alloc(300_000) })).status, 200)
})
