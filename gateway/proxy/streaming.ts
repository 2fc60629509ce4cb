import { Readable } from 'node:stream'
import httpProxy from '@fastify/http-proxy'
import { ClientDisconnected, clientSignal } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { checkBody, declaredLengthOf } from './bodies.ts'
import { createConcurrencyLimiter, holdUntilClosed } from './concurrency.ts'
import { failureOf, recordFailure } from './failures.ts'
import { forwardRequest } from './forward.ts'
import { isResponseHeader, requestHeadersFor } from './headers.ts'
import { ownersOf, type LargeBodies } from './large-bodies.ts'
import { STREAMING_CONNECTIONS } from './pools.ts'
import type { Upstream } from './pools.ts'
import { createPace } from './slow-transfers.ts'
import { BASE_PATH, DEFAULT_BODY_BYTES, DEFAULT_TIMEOUT_MS, UPLOAD_BODY_BYTES } from '../routes.ts'
import type { Route } from '../routes.ts'

const queue = { maxQueued: 64, maxWaitMs: 5_000 }

/**
 * Returns a function that adds a route of `upstream` with long bodies and responses. A long body is sent to the service
 * once it has arrived, or as it arrives if the route says so, and the response is streamed. Bodies of up to 64 KiB take
 * the fast path.
 */
export function createStreaming (upstream: Upstream, largeBodies: LargeBodies) {
  const client = createStreamingClient(upstream)

  return async (app: FastifyInstance, { path, methods, ...route }: Route, config: object) => {
    const { maxBodyBytes = DEFAULT_BODY_BYTES, timeoutMs = DEFAULT_TIMEOUT_MS } = route
    const slots = createConcurrencyLimiter({
      ...queue,
      concurrency: route.maxConcurrentLargeBodies ?? STREAMING_CONNECTIONS
    })
    const watchPace = createPace({ isShort: () => slots.isWaiting('all') })

    async function passOn (request: FastifyRequest, reply: FastifyReply) {
      // It cannot be the probe: how it ends may take a quarter of an hour.
      if (upstream.breaker.isOpen()) throw new Unavailable()
      return await largeBodies.passOn(request, reply, maxBodyBytes)
    }
    async function store (request: FastifyRequest, reply: FastifyReply) {
      const body = await largeBodies.store(request, reply, maxBodyBytes)
      holdUntilClosed(reply, await slots.acquire('all'))
      const { socket } = request.raw
      // Of the response: a client that does not read it would keep the slot.
      const stopWatching = watchPace({
        owners: ownersOf(request),
        countBytes: () => socket.bytesWritten,
        waitsForClient: () => reply.raw.writableNeedDrain,
        end: () => socket.destroy()
      })
      holdUntilClosed(reply, stopWatching)
      return body
    }

    await app.register(httpProxy, {
      upstream: upstream.origin,
      prefix: BASE_PATH,
      routes: [path],
      httpMethods: methods,
      config,
      undici: client as never,
      disableRequestLogging: true,
      internalRewriteLocationHeader: false,
      proxyPayloads: false,
      replyOptions: {
        // Without progress: while the service reads the body, until it responds, and while it sends the response.
        timeout: timeoutMs,
        rewriteRequestHeaders: (request) =>
          requestHeadersFor(request as FastifyRequest, declaredLengthOf((request as FastifyRequest).raw)),
        rewriteHeaders: (headers) =>
          Object.fromEntries(Object.entries(headers).filter(([name]) => isResponseHeader(name))),
        onError: (reply, { error }) => void reply.send(error.cause ?? error)
      },
      async handler (request, reply, destination, options) {
        const length = checkBody(request, maxBodyBytes)
        if (length !== undefined && length <= DEFAULT_BODY_BYTES) {
          forwardRequest(request, reply, upstream, { timeoutMs })
          return reply
        }
        // Fastify and its proxy add seven to ours; from eleven on, Node warns of a leak.
        reply.raw.setMaxListeners(20)
        const body = route.passesLongBodies && (length ?? Infinity) > UPLOAD_BODY_BYTES
          ? await passOn(request, reply)
          : await store(request, reply)
        request.body = Object.assign(body, { signal: clientSignal(reply) })
        return reply.from(destination, options)
      }
    })
  }
}

type Callback = (error: Error | null, response?: Dispatcher.ResponseData) => void

/** What @fastify/http-proxy sends requests with: the streaming connections of `upstream`, behind its breaker. */
function createStreamingClient (upstream: Upstream) {
  return {
    request (options: Dispatcher.RequestOptions, done: Callback) {
      if (!upstream.breaker.allowRequest()) return done(new Unavailable())
      const signal = signalOf(options.body)
      upstream.streamingPool.request({ ...options, signal }, (error, response) => {
        if (error instanceof ClientDisconnected) {
          upstream.breaker.ignored()
          return done(error)
        }
        const failure = error ?? failureOf(response.statusCode)
        if (failure) {
          response?.body?.destroy()
          return done(recordFailure(upstream, failure, { isSlow: true }))
        }
        upstream.breaker.succeeded()
        done(null, response)
      })
    }
  }
}

/** The body is all that @fastify/http-proxy passes on as it is, so it carries the signal that its client has left. */
const signalOf = (body: unknown) =>
  body instanceof Readable && 'signal' in body && body.signal instanceof AbortSignal ? body.signal : null
