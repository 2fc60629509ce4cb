import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import httpProxy from '@fastify/http-proxy'
import { Unavailable } from '@tandem/process-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { checkBody, declaredLengthOf, limitBody } from './bodies.ts'
import { createConcurrencyLimiter } from './concurrency.ts'
import { failureOf, recordFailure } from './failures.ts'
import { forwardRequest } from './forward.ts'
import { isResponseHeader, requestHeadersFor } from './headers.ts'
import type { Upstream } from './pools.ts'
import { BASE_PATH, DEFAULT_BODY_BYTES, DEFAULT_TIMEOUT_MS } from '../routes.ts'
import type { Route } from '../routes.ts'

// Two of a service's eight streaming connections. The app uploads six photos at once: the others wait, unread.
const streamsPerAccount = { concurrency: 2, maxQueued: 8, maxWaitMs: 5_000 }

/**
 * Returns a function that adds a route of `upstream` whose long bodies and responses are streamed. Bodies of up to
 * 64 KiB take the fast path.
 */
export function createStreaming (upstream: Upstream) {
  const acquire = createConcurrencyLimiter(streamsPerAccount)
  const client = createStreamingClient(upstream)

  return async (app: FastifyInstance, { path, methods, ...route }: Route, config: object) => {
    const { maxBodyBytes = DEFAULT_BODY_BYTES, maxConcurrentLargeBodies = Infinity, timeoutMs = DEFAULT_TIMEOUT_MS } =
      route
    let streaming = 0

    async function waitForSlot (request: FastifyRequest, reply: FastifyReply) {
      const release = await acquire(request.account.id)
      if (reply.raw.destroyed || streaming >= maxConcurrentLargeBodies) {
        release()
        throw new Unavailable()
      }
      streaming++
      reply.raw.once('close', () => {
        streaming--
        release()
      })
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
        onResponse: (request, reply, { stream }) => {
          // A service that rejects a body responds before it has read it. As a buffer, its response reaches clients
          // that first send the whole body.
          if (request.raw.complete) void reply.send(stream)
          else buffer(stream).then((whole) => reply.send(whole), (error: unknown) => reply.send(error))
        },
        onError: (reply, { error }) => void reply.send(error.cause ?? error)
      },
      async handler (request, reply, destination, options) {
        const length = checkBody(request, maxBodyBytes)
        if (length !== undefined && length <= DEFAULT_BODY_BYTES) {
          forwardRequest(request, reply, upstream, { timeoutMs })
          return reply
        }
        await waitForSlot(request, reply)
        request.body = limitBody(request.raw, maxBodyBytes)
        return reply.from(destination, options)
      }
    })
  }
}

type Callback = (error: Error | null, response?: Dispatcher.ResponseData) => void

/** What @fastify/http-proxy sends requests with: the streaming connections of `upstream`, behind its breaker. */
function createStreamingClient (upstream: Upstream) {
  return {
    request (options: Dispatcher.RequestOptions & { body: Readable }, done: Callback) {
      if (!upstream.breaker.allowRequest()) return done(new Unavailable())
      upstream.streamingPool.request(options, (error, response) => {
        // Whatever a broken body led to, the body is the cause.
        const failure = options.body.errored ?? error ?? failureOf(response.statusCode)
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
