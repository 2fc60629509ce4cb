import createError from '@fastify/error'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { connectBus, subscribeToSignals } from '@tandem/bus-kit/realtime'
import type { EphemeralMessage, WakeUpSignal } from '@tandem/contracts/realtime'
import { Forbidden, InvalidAccessToken, preferredLanguage, ValidationError } from '@tandem/http-kit'
import { Unavailable, type Log } from '@tandem/process-kit'
import type { Config } from '../config.ts'
import type { Identity } from '../identity/authentication.ts'
import type { JsonClient } from '../identity/json-client.ts'
import { handleClientFrames } from './client-frames.ts'
import { createConnection, type Connection } from './connection.ts'
import { drain } from './drain.ts'
import { createFeedClient } from './feed-client.ts'
import { connectionsGauge, openedTotal } from './metrics.ts'
import { createRegistry } from './registry.ts'
import { sseTransport, webSocketTransport, type Transport } from './transports.ts'
import { isUpgrade, offersProtocol, REALTIME_PATH, routeUpgrades } from './upgrade.ts'

const UpgradeRequired = createError(
  'UPGRADE_REQUIRED',
  'Connect with a WebSocket, or accept text/event-stream',
  426
)

const TICK_MS = 1_000

interface Options {
  config: Config
  identity: Identity
  jsonClient: JsonClient
  log: Log
}

/** GET /realtime: everything that concerns the signed-in person, over a WebSocket or as server-sent events. */
export async function serveRealtime (app: FastifyInstance, { config, identity, jsonClient, log }: Options) {
  const registry = createRegistry(config)
  const accept = routeUpgrades(app)
  const readFeed = createFeedClient(config.upstreams.notification, jsonClient)
  const bus = config.NATS_URL === undefined ? undefined : connectBus(config.NATS_URL, { service: 'gateway', log })
  if (bus) subscribeToSignals(bus, (publisher, signal) => handleSignal(publisher, signal))
  let isDraining = false

  function handleSignal (publisher: string, signal: unknown) {
    if (publisher === 'notification') {
      for (const [accountId, seq] of signal as WakeUpSignal) {
        for (const connection of registry.ofAccount(accountId)) connection.wakeUp(seq)
      }
    } else {
      const { to, frame } = signal as EphemeralMessage
      for (const connection of registry.ofAccount(to)) connection.sendEphemeral(frame)
    }
  }

  identity.onRevoked((sessionId) => {
    for (const connection of registry.ofSession(sessionId)) connection.close(4401)
  })
  const ticker = setInterval(() => {
    const tick = { now: Date.now(), hasSignals: bus?.current() !== undefined, hasKey: identity.keys.has }
    for (const connection of registry.all()) connection.tick(tick)
  }, TICK_MS).unref()

  app.addHook('preClose', async () => {
    isDraining = true
    await drain(registry, config.REALTIME_DRAIN_SECONDS * 1_000)
    clearInterval(ticker)
    await bus?.close()
  })

  /** Reads the first page, before the connection is accepted. */
  async function openConnection (request: FastifyRequest, after: string | undefined) {
    if (isDraining) throw new Unavailable()
    const { account, ip: address } = request
    registry.admit({ accountId: account.id, address })
    const connection = createConnection({
      verified: await app.verifyAccessToken(account.token),
      address,
      language: preferredLanguage(request),
      readFeed,
      onClosed: registry.remove
    })
    // Registered first, so that no signal is missed while the page is read.
    registry.add(connection)
    const page = await connection.prepare(after).catch((error: unknown) => {
      connection.terminate('refused')
      log.warn({ err: error }, 'the notification service does not return realtime frames')
      throw new Unavailable()
    })
    // It was revoked meanwhile.
    if (!page) connection.terminate('refused')
    if (!page) throw new InvalidAccessToken()
    openedTotal.inc({ outcome: page.resumed ? 'resumed' : 'fresh' })
    return {
      connection,
      start (transport: Transport) {
        connectionsGauge.inc({ transport: transport.kind })
        connection.open(transport, page)
      }
    }
  }

  async function serve (request: FastifyRequest<{ Querystring: { after?: string } }>, reply: FastifyReply) {
    const after = request.query.after ?? lastEventId(request)
    const { connection, start } = await openConnection(request, after)
    if (!isUpgrade(request.raw)) return serveEvents(reply, connection, start)
    reply.hijack()
    const socket = await accept(request.raw, reply.raw)
    if (!socket) return connection.terminate('client')
    socket.once('close', () => connectionsGauge.dec({ transport: 'websocket' }))
    handleClientFrames(app, socket, connection)
    start(webSocketTransport(socket))
  }

  app.get(REALTIME_PATH, {
    config: { logged: false },
    schema: {
      errors: [Forbidden, UpgradeRequired],
      querystring: { type: 'object', properties: { after: { type: 'string', maxLength: 100 } } }
    }
  }, async (request: FastifyRequest<{ Querystring: { after?: string } }>, reply) => {
    if (!isAllowedOrigin(request, config.CORS_ORIGINS)) throw new Forbidden()
    if (isUpgrade(request.raw)) {
      if (!offersProtocol(request.raw)) throw new ValidationError('Offer the subprotocol tandem.v1')
    } else if (!request.headers.accept?.includes('text/event-stream')) {
      reply.header('upgrade', 'websocket')
      throw new UpgradeRequired()
    }
    try {
      return await serve(request, reply)
    } catch (error) {
      openedTotal.inc({ outcome: 'refused' })
      // Spread, so that clients of a lost gateway do not come back together.
      if (error instanceof Unavailable) reply.header('retry-after', String(2 + Math.floor(Math.random() * 9)))
      throw error
    }
  })
}

function serveEvents (reply: FastifyReply, connection: Connection, start: (transport: Transport) => void) {
  const { transport, stream } = sseTransport(() => {
    connectionsGauge.dec({ transport: 'sse' })
    connection.terminate('client')
  })
  start(transport)
  return reply.headers({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no'
  }).send(stream)
}

const lastEventId = ({ headers: { 'last-event-id': id } }: FastifyRequest) => typeof id === 'string' ? id : undefined

/** A page of another origin must not open a connection with a token it got hold of. Apps send no Origin. */
function isAllowedOrigin ({ headers: { origin, host } }: FastifyRequest, allowed: string[]) {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return true
  return URL.canParse(origin) && new URL(origin).host === host
}
