import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { connectBus, subscribeToSignals } from '@tandem/bus-kit/realtime'
import { MAX_WATCHED_MATCHES, type EphemeralMessage, type WakeUpSignal } from '@tandem/contracts/realtime'
import { AccountRestricted, Forbidden, InvalidAccessToken, preferredLanguage, ValidationError } from '@tandem/http-kit'
import { Unavailable, type Log } from '@tandem/process-kit'
import type { Config } from '../config.ts'
import type { Identity } from '../identity/authentication.ts'
import type { JsonClient } from '../identity/json-client.ts'
import { clientOf } from '../rate-limits/limits.ts'
import { handleClientFrames } from './client-frames.ts'
import { realtimeErrors, UpgradeRequired } from './errors.ts'
import {
  close,
  createConnection,
  open,
  prepare,
  sendEphemeral,
  terminate,
  wakeUp,
  type Connection,
  type Shared
} from './connection.ts'
import { drain } from './drain.ts'
import { connectionsGauge, maxConnectionsGauge, openedTotal } from './metrics.ts'
import { watch as watchPresence } from './presence.ts'
import { createRegistry } from './registry.ts'
import { createServiceClients } from './service-clients.ts'
import { supervise } from './supervision.ts'
import { sinceStart, type Times } from './times.ts'
import { createEventStream, isStream, type Transport } from './transports.ts'
import { acceptWebSockets, findTokenProtocol, offersProtocol, REALTIME_PATH, releaseRequest } from './upgrade.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Moves the realtime connections to other processes. Call it before `close`. */
    drainConnections: () => Promise<void>
  }
  interface FastifyRequest {
    /** The realtime connection that this request opens, on its route only. */
    opening: Opening
  }
}

/** A connection whose first page has been read. */
interface Opening {
  connection: Connection
  response: ServerResponse
  /** Sends the first page. */
  start: (transport: Transport) => void
}

type RealtimeRequest = FastifyRequest<{ Querystring: Query }>

interface Options {
  config: Config
  identity: Identity
  jsonClient: JsonClient
  log: Log
  times: Times
}

const MAX_POSITION_LENGTH = 100
/** The share of a tick over which many connections are spread. */
const TICK_SHARE = 0.8
const UUID_PATTERN = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const WATCH_PATTERN = `^${UUID_PATTERN}(,${UUID_PATTERN}){0,${MAX_WATCHED_MATCHES - 1}}$`

interface Query {
  after?: string
  /** Match ids, separated by commas. */
  watch?: string
}

/** GET /realtime: everything that concerns the signed-in person, over a WebSocket or as server-sent events. */
export async function serveRealtime (app: FastifyInstance, { config, identity, jsonClient, log, times }: Options) {
  const registry = createRegistry(config)
  maxConnectionsGauge.set(config.REALTIME_MAX_CONNECTIONS)
  const shared: Shared = {
    ...createServiceClients(config.upstreams, jsonClient),
    times,
    verifyAccessToken: app.verifyAccessToken,
    onClosed: registry.remove
  }
  const bus = config.NATS_URL === undefined ? undefined : connectBus(config.NATS_URL, { service: 'gateway', log })
  if (bus) subscribeToSignals(bus, (publisher, signal) => handleSignal(publisher, signal))
  let isDraining = false

  function handleSignal (publisher: string, signal: unknown) {
    if (publisher === 'notification') {
      for (const [accountId, seq] of signal as WakeUpSignal) {
        for (const connection of registry.ofAccount(accountId)) wakeUp(connection, seq)
      }
    } else {
      const { to, frame } = signal as EphemeralMessage
      for (const connection of registry.ofAccount(to)) sendEphemeral(connection, frame)
    }
  }

  identity.onRevoked((sessionIds) => {
    for (const connection of registry.all()) {
      if (sessionIds.has(connection.token.account.sessionId)) close(connection, 4401)
    }
  })
  let isTicking = false
  async function tickAll () {
    if (isTicking) return
    isTicking = true
    const tick = { now: sinceStart(), hasSignals: bus?.current() !== undefined, hasKey: identity.keys.has }
    await registry.forEach((connection) => {
      tick.now = sinceStart()
      supervise(connection, tick)
    }, times.tick * TICK_SHARE)
    isTicking = false
    if (registry.size() > 0) return identity.keepWatching()
    clearInterval(ticker)
    ticker = undefined
  }
  let ticker: NodeJS.Timeout | undefined
  /** Ticks while there are connections. */
  function startTicking () {
    ticker ??= setInterval(() => void tickAll(), times.tick).unref()
  }

  async function drainConnections () {
    isDraining = true
    await drain(registry, config.REALTIME_DRAIN_SECONDS * 1_000)
  }
  async function closeRealtime () {
    if (!isDraining) await drainConnections()
    clearInterval(ticker)
    await bus?.close()
  }
  // Requests are served meanwhile; once the server closes, they would be refused.
  app.decorate('drainConnections', drainConnections)

  /** Reads the first page, before the connection is accepted. */
  async function openConnection (request: RealtimeRequest, { raw: response }: FastifyReply): Promise<Opening> {
    if (isDraining) throw new Unavailable()
    const { account, query: { after = lastEventId(request), watch } } = request
    if (account.restrictedUntil > Date.now() / 1_000) throw new AccountRestricted()
    const address = clientOf(request)
    const verified = await app.verifyAccessToken(account.token)
    // Counted and added without a pause between, so that many that open at once do not exceed a limit.
    registry.admit({ accountId: account.id, address })
    const connection = createConnection(shared, { verified, address, language: preferredLanguage(request) })
    // Registered first, so that no signal is missed while the page is read.
    registry.add(connection)
    startTicking()
    const page = await prepare(connection, after).catch((error: unknown) => {
      terminate(connection, 'refused')
      log.warn({ err: error }, 'the notification service does not return realtime frames')
      throw new Unavailable()
    })
    // It was revoked meanwhile.
    if (!page) terminate(connection, 'refused')
    if (!page) throw new InvalidAccessToken()
    // The client may leave before the upgrade, or its handshake may not be valid.
    const giveUp = () => terminate(connection, 'client')
    if (response.destroyed) giveUp()
    else response.once('close', giveUp)
    openedTotal.inc({ outcome: page.resumed ? 'resumed' : after === undefined ? 'fresh' : 'reset' })
    return {
      connection,
      response,
      start (transport) {
        connectionsGauge.inc({ transport: isStream(transport) ? 'sse' : 'websocket' })
        open(connection, transport, page)
        if (watch !== undefined) watchPresence(connection, watch.split(','))
      }
    }
  }

  await app.register(async (scope) => {
    await acceptWebSockets(scope, { preClose: closeRealtime })
    scope.decorateRequest('opening')
    scope.route({
      method: 'GET',
      url: REALTIME_PATH,
      config: { logged: false, limitsFloods: true, findToken: findTokenProtocol },
      schema: {
        errors: realtimeErrors,
        querystring: {
          type: 'object',
          properties: {
            after: { type: 'string', maxLength: MAX_POSITION_LENGTH },
            watch: { type: 'string', pattern: WATCH_PATTERN }
          }
        }
      },
      // Whatever refuses a connection does so here, before the upgrade.
      preHandler: async (request: RealtimeRequest, reply) => {
        checkOrigin(request, config.CORS_ORIGINS)
        // While the server closes, an upgrade is an ordinary request, which `openConnection` refuses.
        if (!isDraining) checkTransport(request, reply)
        try {
          request.opening = await openConnection(request, reply)
        } catch (error) {
          openedTotal.inc({ outcome: 'refused' })
          // Spread, so that clients of a lost gateway do not come back together.
          if (error instanceof Unavailable) reply.header('retry-after', String(2 + Math.floor(Math.random() * 9)))
          throw error
        }
      },
      handler: async ({ opening }, reply) => serveEvents(reply, opening),
      wsHandler (socket, { opening: { connection, response, start } }) {
        releaseRequest(socket, response)
        handleClientFrames(socket, connection)
        start(socket)
      }
    })
  })
}

function serveEvents (reply: FastifyReply, { connection, start }: Opening) {
  const stream = createEventStream(reply.raw, () => {
    connectionsGauge.dec({ transport: 'sse' })
    terminate(connection, 'client')
  })
  start(stream)
  return reply.headers({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no'
  }).send(stream)
}

/**
 * The position in the header of a stream that a browser opens again. A longer one is none of ours, and would fail the
 * reading of all connections that are read together.
 */
const lastEventId = ({ headers: { 'last-event-id': id } }: Pick<FastifyRequest, 'headers'>) =>
  typeof id === 'string' && id.length <= MAX_POSITION_LENGTH ? id : undefined

/** A page of another origin must not open a connection with a token it got hold of. Apps send no Origin. */
function checkOrigin ({ headers: { origin, host } }: RealtimeRequest, allowed: string[]) {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return
  if (!URL.canParse(origin) || new URL(origin).host !== host) throw new Forbidden()
}

function checkTransport (request: RealtimeRequest, reply: FastifyReply) {
  if (request.ws) {
    if (offersProtocol(request)) return
    throw new ValidationError('offerSubprotocolTandemV1')
  }
  if (request.headers.accept?.includes('text/event-stream')) return
  reply.header('upgrade', 'websocket')
  throw new UpgradeRequired()
}
