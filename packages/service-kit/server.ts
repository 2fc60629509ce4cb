import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import underPressure from '@fastify/under-pressure'
import Fastify, { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault } from 'fastify'
import { authentication } from './authentication.ts'
import type { AuthenticationOptions } from './authentication.ts'
import { answerFailures, failure, sendError } from './envelope.ts'
import { ServiceUnavailable } from './errors.ts'
import { serveHealth } from './health.ts'
import type { HealthChecks } from './health.ts'
import { nameIgnoredFields } from './ignored-fields.ts'
import { logResponses } from './logging.ts'
import type { Log } from './logging.ts'
import { measureRequests } from './metrics.ts'
import { describeRoutes } from './openapi.ts'
import { traceRequests } from './tracing.ts'
import { discardUnreadBodies } from './unread-bodies.ts'
import { checkRequests } from './validation.ts'

export type Server = FastifyInstance<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, FastifyBaseLogger, TypeBoxTypeProvider>

/** A route module: a plugin that is handed `Deps` when it is registered. */
export type Routes<Deps extends object = Record<never, never>> = FastifyPluginAsyncTypebox<Deps>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the load shedder calls for this route; one that does nothing lets it through. */
    pressureHandler?: (request: FastifyRequest, reply: FastifyReply) => void
  }
}

export interface ServerOptions extends AuthenticationOptions {
  /** The service, as in the log and in the tags of its OpenAPI document. */
  name: string
  log: Log
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  trustProxy?: string[]
  /** What /health/ready asks. */
  checks?: HealthChecks
  /** Whether /health/ready names what is down; true. Off where the public can ask. */
  exposesFailingChecks?: boolean
  /** The longest body, in bytes; 64 KiB. A route may have a limit of its own. */
  bodyLimit?: number
  /** Whether to refuse requests while they would have to wait too long. A test would fail by how busy its machine is. */
  loadShedding?: boolean
  /** Whether the server describes its own routes at /openapi.json; true. */
  openapi?: boolean
}

const kibibyte = 1024
const lastAnswers = 1_000
const requestId = /^[0-9a-f-]{36}$/

/**
 * A server with all that every service has: the envelope for every failure, authentication on every route that is not public,
 * validation, health, metrics, traces, the log, load shedding and its OpenAPI document. Routes are added after it is awaited.
 */
export async function createServer ({ name, log, keys, isRevoked, trustProxy = [], checks = {}, exposesFailingChecks = true, bodyLimit = 64 * kibibyte, loadShedding = true, openapi = true }: ServerOptions): Promise<Server> {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    // A service goes on with the id that the gateway has told the client.
    genReqId: ({ headers: { 'x-request-id': id } }) => trustProxy.length > 0 && typeof id === 'string' && requestId.test(id) ? id : randomUUID(),
    requestIdHeader: false,
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
    bodyLimit,
    requestTimeout: 15_000,
    // Longer than a load balancer keeps a connection, so that it is never we who close one that it is about to use.
    keepAliveTimeout: 72_000,
    // Node would refuse a request without a Host in a form of its own; nothing here depends on one.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000, requireHostHeader: false },
    forceCloseConnections: 'idle',
    // A request that still arrives while the server closes is served.
    return503OnClosing: false,
    frameworkErrors: sendError,
    clientErrorHandler: answerClientError
  }) as FastifyInstance as Server

  // The same goes for expectations that nobody knows.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  closeConnectionsInTime(app)
  discardUnreadBodies(app)
  await traceRequests(app)
  logResponses(app, log)
  answerFailures(app)
  checkRequests(app)
  nameIgnoredFields(app)
  await measureRequests(app)
  if (loadShedding) await shedLoad(app)
  await app.register(authentication, { keys, isRevoked })
  if (openapi) await describeRoutes(app, { name })
  await serveHealth(app, { checks, exposesFailingChecks })
  return app
}

/**
 * Lets go of connections without breaking a request. A client cannot know that its connection is being closed just as it sends: so for a second
 * the server goes on, telling with every answer that it was the last, and only then closes what nobody has used meanwhile.
 */
function closeConnectionsInTime (app: FastifyInstance) {
  let closing = false
  let sweeper: NodeJS.Timeout | undefined
  const countConnections = promisify(app.server.getConnections.bind(app.server))
  app.addHook('preClose', async () => {
    closing = true
    const end = Date.now() + lastAnswers
    while (await countConnections() > 0 && Date.now() < end) await sleep(20)
    // Node closes the connections that are idle when the server closes, and then would wait 72 s for those that become so.
    sweeper = setInterval(() => app.server.closeIdleConnections(), 200)
  })
  app.addHook('onClose', async () => clearInterval(sweeper))
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close')
    done()
  })
}

/** Answers 503 at once while the event loop is so late that whoever waits has left before he is served. */
async function shedLoad (app: FastifyInstance) {
  await app.register(underPressure, {
    maxEventLoopDelay: 250,
    maxEventLoopUtilization: 0.98,
    eventLoopUtilizationMode: 'interval',
    retryAfter: 1,
    customError: ServiceUnavailable as never,
    pressureHandler (_request, reply, type) {
      // A core in full use is no reason to refuse anyone as long as nobody has to wait for it.
      if (type === underPressure.TYPE_EVENT_LOOP_UTILIZATION && app.memoryUsage().eventLoopDelay < 50) return
      reply.header('retry-after', '1')
      throw new ServiceUnavailable()
    }
  })
}

// What is not HTTP, or not in time, never reaches a route.
function answerClientError (error: Error & { code?: string }, socket: Socket) {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, body] = explainClientError(error.code)
  const text = JSON.stringify(body)
  if (!socket.writable) return void socket.destroy(error)
  // Destroyed at once, with bytes of the client still unread, the connection would be reset before the client has read the answer.
  socket.end(`HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`)
  socket.resume()
  setTimeout(() => socket.destroy(), 1_000).unref()
}

function explainClientError (code: string | undefined) {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT': return ['408 Request Timeout', failure('REQUEST_TIMEOUT', 'The request took too long to arrive')] as const
    case 'HPE_HEADER_OVERFLOW': return ['431 Request Header Fields Too Large', failure('PAYLOAD_TOO_LARGE', 'The headers of the request are too large')] as const
    default: return ['400 Bad Request', failure('VALIDATION_ERROR', 'The request is not valid HTTP')] as const
  }
}
