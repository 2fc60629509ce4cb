import { Unavailable } from '@tandem/process-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { BASE_PATH } from '../routes.ts'
import { createConcurrencyLimiter } from './concurrency.ts'
import { failureOf, recordFailure } from './failures.ts'
import { isResponseHeader, requestHeadersFor } from './headers.ts'
import type { Upstream } from './pools.ts'

// Without progress: until the service responds, and while it sends. A slow client does not count.
const TIMEOUT_MS = 10_000
const perClient = { concurrency: 2, maxQueued: 2, maxWaitMs: 5_000 }
/** The streaming connections of a service. */
const MAX_DOWNLOADS = 8

/**
 * Returns a handler that streams long responses of `upstream`, such as files with ranges: two at once for a client
 * address, eight at once in all.
 */
export function createDownloads (upstream: Upstream) {
  const acquire = createConcurrencyLimiter(perClient)
  let running = 0

  async function waitForSlot (request: FastifyRequest, reply: FastifyReply) {
    const release = await acquire(request.ip)
    if (reply.raw.destroyed || running >= MAX_DOWNLOADS) {
      release()
      throw new Unavailable()
    }
    running++
    reply.raw.once('close', () => {
      running--
      release()
    })
  }

  return async (request: FastifyRequest, reply: FastifyReply) => {
    await waitForSlot(request, reply)
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
