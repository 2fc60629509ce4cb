import { createServer } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ACCESS_TOKEN, signKeySet } from '@tandem/http-kit'
import type { Log } from '@tandem/process-kit'
import { createRootKey, signToken, silentLog } from '@tandem/http-kit/testing'
import { createGateway } from '../app.ts'
import { readGatewayConfig } from '../config.ts'
import { serviceNames } from '../routes.ts'
import type { ServiceName } from '../routes.ts'
import { standardTimes, type Times } from '../realtime/times.ts'

interface Teardown {
  teardown(work: () => unknown): unknown
}

/** A request that a fake service received. */
export interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: Buffer
}

/** A fake service. */
export interface FakeService {
  url: string
  /** Every proxied request, without the gateway's own requests. */
  received: ReceivedRequest[]
  /** Sets the response to proxied requests; by default they are echoed. */
  respondWith: (listener: (received: ReceivedRequest, response: ServerResponse) => void) => void
  /** Sets a listener that handles requests before their body has arrived. */
  handleWith: (listener: RequestListener | undefined) => void
  stop: () => Promise<void>
  start: () => Promise<void>
  /** The responses to the gateway's own requests, by path. */
  documents: Map<string, unknown>
}

export async function startFakeService (t: Teardown, name: string): Promise<FakeService> {
  let handle: RequestListener | undefined
  let respond = (received: ReceivedRequest, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify({ success: true, data: { service: name, method: received.method, url: received.url } }))
  }
  let port = 0
  const documents = new Map<string, unknown>([['/health/ready', { status: 'ready' }]])
  const received: ReceivedRequest[] = []

  const listener: RequestListener = (request, response) => {
    const document = documents.get(request.url?.split('?', 1)[0] ?? '')
    if (document !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' })
      return void Promise.resolve(typeof document === 'function' ? document(request) as unknown : document).then((
        body
      ) => response.end(JSON.stringify(body)))
    }
    if (handle) return handle(request, response)
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const whole = { method, url, headers, body: Buffer.concat(chunks) }
      received.push(whole)
      respond(whole, response)
    })
  }
  let server = createServer(listener)

  async function start () {
    server = createServer({ keepAliveTimeout: 72_000 }, listener)
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  async function stop () {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  await start()
  t.teardown(stop)
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    respondWith: (next) => {
      respond = next
    },
    handleWith: (next) => {
      handle = next
    },
    stop,
    start,
    documents
  }
}

export interface CallOptions {
  method?: string
  headers?: OutgoingHttpHeaders
  body?: string | Buffer | Buffer[]
  /** The address of the client, such as 127.0.0.9. */
  from?: string
}

export interface ClientResponse {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
  json: () => Record<string, unknown>
  ms: number
}

/** Sends a request over a new connection. A body in pieces is sent chunked, without a length. */
export function callAt (origin: string, path: string, { method = 'GET', headers = {}, body, from }: CallOptions = {}) {
  return new Promise<ClientResponse>((resolve, reject) => {
    const since = performance.now()
    const given = Array.isArray(body) || body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const { hostname, port } = new URL(origin)
    const request = httpRequest({
      hostname,
      port,
      path,
      method,
      headers: { ...given, ...headers },
      localAddress: from,
      agent: false
    }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const whole = Buffer.concat(chunks)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: whole,
          json: () => JSON.parse(whole.toString()) as Record<string, unknown>,
          ms: performance.now() - since
        })
      })
    })
    request.on('error', reject)
    for (const piece of Array.isArray(body) ? body : body === undefined ? [] : [body]) request.write(piece)
    request.end()
  })
}

/** The signing key of a fake identity. */
export function createIssuer (kid = randomUUID()) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: ACCESS_TOKEN.algorithm, use: 'sig' },
    bearer (sessionId: string = randomUUID(), claims: object = {}) {
      const now = Math.floor(Date.now() / 1000)
      const { issuer: iss, audience: aud } = ACCESS_TOKEN
      const account = { sub: randomUUID(), sid: sessionId, role: 'USER' }
      const token = signToken({ iss, aud, ...account, iat: now, exp: now + 900, ...claims }, { kid }, privateKey)
      return { authorization: `Bearer ${token}` }
    }
  }
}

const rootKey = createRootKey()

/** Makes a fake identity publish these keys, signed by `by`. */
export function publishKeys (
  identity: FakeService,
  issuers: Pick<ReturnType<typeof createIssuer>, 'jwk'>[],
  { by = rootKey, issuedAt = Date.now() } = {}
) {
  const keys = issuers.map(({ jwk }) => jwk)
  identity.documents.set('/.well-known/jwks.json', { keys })
  identity.documents.set(
    '/internal/signing-keys',
    async () => ({ signed: await signKeySet(keys, issuedAt, by.privateKey) })
  )
}

interface Options {
  env?: NodeJS.ProcessEnv
  /** Whether identity has published its key; default true. */
  keys?: boolean
  redisUrl?: string
  log?: Log
  realtimeTimes?: Times
}

/** A listening gateway with six fake services. */
export async function testGateway (
  t: Teardown,
  { env = {}, keys = true, redisUrl = 'redis://127.0.0.1:1', log = silentLog, realtimeTimes = standardTimes }: Options =
    {}
) {
  const started = await Promise.all(serviceNames.map(async (name) => [name, await startFakeService(t, name)] as const))
  const services = Object.fromEntries(started) as Record<ServiceName, FakeService>
  const issuer = createIssuer()
  const revokedSessions: string[] = []
  if (keys) publishKeys(services.identity, [issuer])
  services.identity.documents.set(
    '/internal/revoked-sessions',
    () => ({ sessions: revokedSessions, until: new Date().toISOString() })
  )

  const variables = {
    PORT: '0',
    // On a busy machine a test would meet refusals.
    MAX_EVENT_LOOP_DELAY_MS: '0',
    IDENTITY_ROOT_PUBLIC_KEYS: rootKey.publicText,
    REDIS_URL: redisUrl,
    ...Object.fromEntries(started.map(([name, { url }]) => [`${name.toUpperCase()}_URL`, url])),
    ...env
  }
  const config = readGatewayConfig(variables)
  const app = await createGateway(config, log, { realtimeTimes })
  t.teardown(() => app.close())
  await app.listen({ host: config.HOST, port: config.PORT })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    app,
    url,
    /** The configuration of the gateway. */
    env: variables,
    services,
    issuer,
    /** The sessions that the fake identity returns as revoked. */
    revokedSessions,
    as: issuer.bearer,
    call: (path: string, options?: CallOptions) => callAt(url, path, options)
  }
}

/** Waits until the gateway counts in Redis. */
export async function waitForRedis ({ call }: Pick<Awaited<ReturnType<typeof testGateway>>, 'call'>) {
  for (;;) {
    const { down } = (await call('/health/ready')).json() as { down: string[] }
    if (!down.includes('redis')) return
    await sleep(100)
  }
}
