import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { LogController } from 'fastify'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  onRequestHookHandler,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault
} from 'fastify'
import { textsOf } from '@tandem/brand-kit'
import type { HealthChecks, Log } from '@tandem/process-kit'
import { authentication } from './authentication.ts'
import type { AuthenticationOptions } from './authentication.ts'
import { signedTokens } from './tokens.ts'
import { revalidateResponses } from './etag.ts'
import { handleErrors, failure, sendError } from './envelope.ts'
import { serveHealth } from './health.ts'
import { reportIgnoredFields } from './ignored-fields.ts'
import { announceDeprecations } from './deprecation.ts'
import { describeRoutes } from './openapi.ts'
import { refuseOverload } from './overload.ts'
import { measureRequests } from './request-metrics.ts'
import { createRequestLog, traceRequests } from './request-tracing.ts'
import { logResponses } from './response-log.ts'
import { compileSerializersLazily } from './response-serializers.ts'
import { discardUnreadBodies } from './unread-bodies.ts'
import { limitRequestTimes, REQUEST_TIMEOUT_MS } from './request-times.ts'
import { validateRequests } from './validation.ts'

export type Server = FastifyInstance<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression,
  FastifyBaseLogger, TypeBoxTypeProvider>

/** A route module: a Fastify plugin that gets `Deps` when it is registered. */
export type Routes<Deps extends object = Record<never, never>> = FastifyPluginAsyncTypebox<Deps>

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the server closes: from then on each response has to end its connection. */
    isClosing: () => boolean
  }
}

export interface ServerOptions extends AuthenticationOptions {
  /** The service's name, in the log and in the tags of its OpenAPI document. */
  name: string
  log: Log
  /** IP addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted. */
  trustProxy?: string[]
  /** The checks behind /health/ready. */
  checks?: HealthChecks
  /** Whether /health/ready names failing checks; default true. Set it to false where /health/ready is public. */
  exposesFailingChecks?: boolean
  /** The largest request body in bytes; default 64 KiB. A route can override it. */
  bodyLimit?: number
  /**
   * How long a request may take to arrive where a route sets `longRequests`; default 15 s, as on all other routes.
   */
  longestRequestMs?: number
  /** Requests are refused while an iteration of the event loop takes longer. Default 0: none is refused. */
  maxEventLoopDelayMs?: number
  /** Whether only one in sixteen fast successes is logged; default where NODE_ENV is production. */
  samplesLog?: boolean
  /** Whether to serve /openapi.json; default true. */
  openapi?: boolean
  /**
   * Whether unknown callers reach it; default false. Then every request gets its own id and trace, whatever the caller
   * sends, so that no caller can put lines into the trace of another request.
   */
  isPublic?: boolean
  /**
   * Which requests with an Upgrade header are upgraded, by the server's `upgrade` event; default none. The others stay
   * ordinary requests.
   */
  acceptsUpgrade?: (request: IncomingMessage) => boolean
  /** Hooks that run before the token of a request is verified. */
  onArrival?: onRequestHookHandler[]
}

const KIBIBYTE = 1024
const CLOSE_GRACE_MS = 1_000
// No route works for that long without a byte in either direction.
const STALLED_MS = 2 * 60_000
const REQUEST_ID = /^[0-9a-f-]{36}$/

/**
 * Creates a server with everything that all services share: the error envelope, authentication of every route that is
 * not public, validation, health, metrics, tracing, logging, refusal of overload and an OpenAPI document. Await it
 * before you add routes.
 */
export async function createServer (
  {
    name,
    log,
    keys,
    isRevoked,
    acceptsRestricted,
    trustProxy = [],
    checks = {},
    exposesFailingChecks = true,
    bodyLimit = 64 * KIBIBYTE,
    longestRequestMs,
    maxEventLoopDelayMs = 0,
    samplesLog = process.env.NODE_ENV === 'production',
    openapi = true,
    isPublic = false,
    acceptsUpgrade = () => false,
    onArrival = []
  }: ServerOptions
): Promise<Server> {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    childLoggerFactory: createRequestLog,
    // A service reuses the request id that the gateway sends to the client.
    genReqId: ({ headers: { 'x-request-id': id } }) =>
      !isPublic && trustProxy.length > 0 && typeof id === 'string' && REQUEST_ID.test(id) ? id : randomUUID(),
    requestIdHeader: false,
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
    bodyLimit,
    requestTimeout: longestRequestMs ?? REQUEST_TIMEOUT_MS,
    // A client that does not read its response would keep the connection for ever.
    connectionTimeout: STALLED_MS,
    // Longer than a load balancer keeps idle connections, so that we never close one that it is about to use.
    keepAliveTimeout: 72_000,
    // Node would reject a request without a Host header outside the envelope; nothing here depends on the header.
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
      // Once nothing listens, because the server closes, such a request is an ordinary one.
      shouldUpgradeCallback: (request) => acceptsUpgrade(request) && app.server.listenerCount('upgrade') > 0
    },
    forceCloseConnections: 'idle',
    // Requests that arrive while the server closes are still served.
    return503OnClosing: false,
    frameworkErrors: sendError,
    clientErrorHandler: sendClientError
  }) as FastifyInstance as Server

  // Node would also reject unknown Expect headers outside the envelope.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  closeConnectionsGracefully(app)
  discardUnreadBodies(app)
  if (longestRequestMs !== undefined) limitRequestTimes(app)
  await traceRequests(app, { isPublic })
  logResponses(app, { isSampled: samplesLog })
  handleErrors(app)
  validateRequests(app)
  compileSerializersLazily(app)
  reportIgnoredFields(app)
  revalidateResponses(app)
  measureRequests(app)
  announceDeprecations(app)
  if (maxEventLoopDelayMs > 0) refuseOverload(app, { maxEventLoopDelayMs })
  for (const hook of onArrival) app.addHook('onRequest', hook)
  await app.register(signedTokens, { keys })
  await app.register(authentication, { keys, isRevoked, acceptsRestricted })
  if (openapi) await describeRoutes(app, { name })
  await serveHealth(app, { checks, exposesFailingChecks })
  return app
}

/**
 * Closes connections without breaking a request. A client may send a request just as its connection is being closed. So
 * the server goes on for a second, marks each response with `Connection: close`, and only then closes the idle
 * connections.
 */
function closeConnectionsGracefully (app: FastifyInstance) {
  let closing = false
  let idleTimer: NodeJS.Timeout | undefined
  const countConnections = promisify(app.server.getConnections.bind(app.server))
  app.addHook('preClose', async () => {
    closing = true
    const deadline = Date.now() + CLOSE_GRACE_MS
    while (await countConnections() > 0 && Date.now() < deadline) await sleep(20)
    // Node closes connections that are idle when the server closes, but would wait 72 s for those that become idle
    // later.
    idleTimer = setInterval(() => app.server.closeIdleConnections(), 200)
  })
  app.addHook('onClose', async () => clearInterval(idleTimer))
  app.decorate('isClosing', () => closing)
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close')
    done()
  })
}

// Malformed HTTP and timeouts never reach a route.
function sendClientError (error: Error & { code?: string }, socket: Socket) {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, body] = clientErrorResponse(error.code)
  const text = JSON.stringify(body)
  if (!socket.writable) return void socket.destroy(error)
  // Destroying the socket at once, with unread bytes of the client, would reset the connection before the client reads
  // the response.
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${
      Buffer.byteLength(text)
    }\r\nConnection: close\r\n\r\n${text}`
  )
  socket.resume()
  setTimeout(() => socket.destroy(), 1_000).unref()
}

function clientErrorResponse (code: string | undefined) {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [
        '408 Request Timeout',
        failure('REQUEST_TIMEOUT', textsOf(null).format('errors.REQUEST_TIMEOUT.requestTimeout'))
      ] as const
    case 'HPE_HEADER_OVERFLOW':
      return [
        '431 Request Header Fields Too Large',
        failure('PAYLOAD_TOO_LARGE', textsOf(null).format('errors.PAYLOAD_TOO_LARGE.headers'))
      ] as const
    default:
      return [
        '400 Bad Request',
        failure('VALIDATION_ERROR', textsOf(null).format('errors.VALIDATION_ERROR.notHttp'))
      ] as const
  }
}
