import { once } from 'node:events'
import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { createLogger } from '@tandem/process-kit'
import { until } from '@tandem/test-kit'
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

t.test('a client that leaves while its upload waits for others of the account is no lack of ours', async (t) => {
  const warnings: unknown[] = []
  const log = createLogger('gateway', 'warn', { write: (line) => void warnings.push(JSON.parse(line)) })
  const { app, url, as, call, services } = await testGateway(t, { log })
  const headers = as()
  const arrived: ServerResponse[] = []
  services.social.respondWith((_received, response) => arrived.push(response))
  const upload = () => call(`${base}/media`, { method: 'POST', headers, body: Buffer.alloc(300_000) })
  const others = [upload(), upload()]
  await until(() => arrived.length === 2)
  const received = once(app.server, 'request') as Promise<[IncomingMessage]>
  const third = request(`${url}${base}/media`, { method: 'POST', headers: { ...headers, 'content-length': 300_000 } })
  third.on('error', () => {}).flushHeaders()
  const [{ socket }] = await received
  third.destroy()
  await once(socket, 'close')
  services.social.respondWith((_received, response) => response.writeHead(201).end())
  for (const response of arrived) response.writeHead(201).end()
  await Promise.all(others)
  t.equal((await upload()).status, 201, 'its place is free')
  t.strictSame(warnings, [])
})
