import { Unavailable } from '@tandem/process-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { BASE_PATH } from '../routes.ts'
import { clientOf } from '../rate-limits/limits.ts'
import { createConcurrencyLimiter, holdUntilClosed } from './concurrency.ts'
import { failureOf, recordFailure } from './failures.ts'
import { isResponseHeader, requestHeadersFor } from './headers.ts'
import { STREAMING_CONNECTIONS } from './pools.ts'
import type { Upstream } from './pools.ts'
import { createPace } from './slow-transfers.ts'

// Without progress: until the service responds, and while it sends. A slow client does not count.
const TIMEOUT_MS = 10_000
const perClient = { concurrency: 2, maxQueued: 2, maxWaitMs: 5_000 }
const inAll = { concurrency: STREAMING_CONNECTIONS, maxQueued: 64, maxWaitMs: 5_000 }

/**
 * Returns a handler that streams long responses of `upstream`, such as files with ranges: two at once for a client
 * address, eight at once in all. Once these are used up, slow ones are ended, and others wait for up to 5 s. Clients
 * continue with a range what was ended.
 */
export function createDownloads (upstream: Upstream) {
  const clients = createConcurrencyLimiter(perClient)
  const connections = createConcurrencyLimiter(inAll)
  const watchPace = createPace({ isShort: () => connections.isWaiting('all') })

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const client = clientOf(request)
    holdUntilClosed(reply, await clients.acquire(client))
    holdUntilClosed(reply, await connections.acquire('all'))
    const { socket } = request.raw
    const stopWatching = watchPace({
      owners: [`address ${client}`, `file ${request.url}`],
      countBytes: () => socket.bytesWritten,
      waitsForClient: () => reply.raw.writableNeedDrain,
      end: () => socket.destroy()
    })
    reply.raw.once('close', stopWatching)
    const { statusCode, headers, body } = await requestFrom(upstream, request)
    for (const [name, value] of Object.entries(headers)) if (isResponseHeader(name)) reply.header(name, value)
    return reply.code(statusCode).send(body)
  }
}

/** @throws Unavailable */
async function requestFrom (upstream: Upstream, request: FastifyRequest) {
  const { breaker, streamingPool } = upstream
  if (!breaker.allowRequest()) throw new Unavailable()
  const response = await streamingPool.request({
    path: request.url.slice(BASE_PATH.length),
    method: request.method as Dispatcher.HttpMethod,
    headers: requestHeadersFor(request, undefined),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS
  }).catch((error: Error) => {
    throw recordFailure(upstream, error, { isSlow: true })
  })
  const failure = failureOf(response.statusCode)
  if (failure) {
    response.body.destroy()
    throw recordFailure(upstream, failure)
  }
  breaker.succeeded()
  return response
}
