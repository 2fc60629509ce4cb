import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { freePort } from '@tandem/local-servers/ports.ts'
import { silentLog } from '@tandem/http-kit/testing'
import { rightsOf } from '@tandem/operator-kit'
import { createConsole } from '../console/app.ts'
import { readConsoleConfig } from '../console/config.ts'
import { serviceNames, type ServiceName } from '../routes.ts'
import { callAt, startFakeService, type CallOptions, type FakeService, type ReceivedRequest } from './gateway.ts'

interface Teardown {
  teardown(work: () => unknown): unknown
}

export const ALL_RIGHTS: string[] = rightsOf('ADMIN')

export const staff = { id: randomUUID(), email: 'ana@example.com', role: 'ADMIN', provedAt: new Date().toISOString() }

/** What a fake service answers: data, or a refusal; bytes for a picture. */
type Answer = object | Buffer | { refusal: [status: number, code: string, error?: string] }
type Respond = (request: ReceivedRequest, path: string) => Answer

const now = () => new Date().toISOString()

export const givenCase = (more: object = {}) => ({
  id: randomUUIDv7(),
  targetType: 'POST',
  targetId: randomUUID(),
  accountId: randomUUID(),
  personName: 'Ben',
  excerpt: 'Buy now',
  reasons: ['SPAM'],
  priority: 1,
  dueAt: new Date(Date.now() + 3_600_000).toISOString(),
  version: 1,
  reportsCount: 2,
  isRestricted: false,
  hidesPictures: false,
  isHeld: false,
  claimedBy: null,
  claimedUntil: null,
  outcome: null,
  decisionId: null,
  createdAt: now(),
  resolvedAt: null,
  ...more
})

/** A console in front of six fake services. `answers` are by service, method and path, with `:id` for any segment. */
export async function testConsole (t: Teardown, { env = {} }: { env?: NodeJS.ProcessEnv } = {}) {
  const started = await Promise.all(serviceNames.map(async (name) => [name, await startFakeService(t, name)] as const))
  const services = Object.fromEntries(started) as Record<ServiceName, FakeService>
  const answers = new Map<string, Answer | Respond>()
  const rights = { current: ALL_RIGHTS }
  answers.set('identity POST /operator/tokens', (request) => {
    const { session } = JSON.parse(String(request.body)) as { session: string }
    return session === 'ended'
      ? { refusal: [401, 'SESSION_ENDED'] }
      : { token: 'operator-token', staff: { ...staff, rights: rights.current } }
  })
  for (const [name, service] of started) {
    service.respondWith((request, response) => {
      const path = request.url.split('?', 1)[0] ?? ''
      const pattern = path.replaceAll(/\/[0-9a-f]{8}-[0-9a-f-]{27}/g, '/:id')
      const found = answers.get(`${name} ${request.method} ${pattern}`) ?? { refusal: [404, 'NOT_FOUND', 'Not found'] }
      const answer = typeof found === 'function' ? found(request, path) : found
      if (Buffer.isBuffer(answer)) return void response.writeHead(200, { 'content-type': 'image/webp' }).end(answer)
      const [status, code, error] = 'refusal' in answer ? answer.refusal : [200]
      const body = code ? { success: false, code, error: error ?? 'No' } : { success: true, data: answer }
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  }

  const port = await freePort()
  const origin = `http://localhost:${port}`
  const config = readConsoleConfig({
    PORT: String(port),
    // On a busy machine a test would meet refusals.
    MAX_EVENT_LOOP_DELAY_MS: '0',
    CONSOLE_URL: origin,
    ...Object.fromEntries(started.map(([name, { url }]) => [`${name.toUpperCase()}_URL`, url])),
    ...env
  })
  const app = await createConsole(config, silentLog)
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port })
  const cookie = '__Host-session=good'
  const call = async (path: string, { headers = {}, ...options }: CallOptions = {}) => {
    const given = { host: `localhost:${port}`, cookie, ...headers }
    const response = await callAt(`http://127.0.0.1:${port}`, path, { ...options, headers: given })
    return { ...response, text: response.body.toString() }
  }
  return {
    origin,
    services,
    answers,
    rights,
    call,
    /** Sends a form, as the browser does from a page of the console. */
    submit: async (path: string, fields: [string, string][], headers: CallOptions['headers'] = {}) =>
      await call(path, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          ...headers
        },
        body: new URLSearchParams(fields).toString()
      }),
    /** The bodies that a service received at a path. */
    received: (service: ServiceName, path: string) =>
      services[service].received.filter(({ url }) => url.startsWith(path)).map(({ body, method }) => ({
        method,
        body: body.length > 0 ? JSON.parse(String(body)) as Record<string, unknown> : null
      }))
  }
}
