import type { IncomingHttpHeaders } from 'node:http'
import { ClientDisconnected, runInTraceOf, ServerError } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher, Pool } from 'undici'
import { checkBody, readBody } from './bodies.ts'
import { requestErrorOf, failureOf, recordFailure, ResponseTimeout } from './failures.ts'
import { requestHeadersFor } from './headers.ts'
import type { Upstream } from './pools.ts'
import { respond, type ServiceResponse } from './respond.ts'
import { BASE_PATH, DEFAULT_BODY_BYTES, DEFAULT_TIMEOUT_MS } from '../routes.ts'
import type { Route } from '../routes.ts'

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024

/** Forwards `request`, with its body if it has one, to the same path at the service without BASE_PATH. */
export function forwardRequest (
  request: FastifyRequest,
  reply: FastifyReply,
  upstream: Upstream,
  { timeoutMs, maxBufferedBytes = DEFAULT_BODY_BYTES }: Pick<Route, 'timeoutMs' | 'maxBufferedBytes'> = {}
) {
  const path = request.url.slice(BASE_PATH.length)
  if (checkBody(request, maxBufferedBytes) === 0) return forward(request, reply, upstream, path, { timeoutMs })
  readBody(request.raw, maxBufferedBytes, request.server.heldBytes)
    .then((body) => forward(request, reply, upstream, path, { body, timeoutMs }))
    .catch((error: unknown) => reply.send(error))
}

/**
 * Forwards `request` to `path` at a service and the response back to the client: status, headers and body unchanged.
 * Both bodies are buffered, so a slow client holds no connection, and a response that breaks off can still become a
 * clean 503. Throws Unavailable if the service is unreachable, takes more than `timeoutMs`, or breaks off. A GET or HEAD
 * is retried once after a broken connection, within the retry budget; any other method only if not a byte was sent. If
 * the client leaves, the service's connection is closed, so that it can stop, and nothing counts for the breaker.
 */
export function forward (
  request: FastifyRequest,
  reply: FastifyReply,
  upstream: Upstream,
  path: string,
  { body = null, timeoutMs = DEFAULT_TIMEOUT_MS }: { body?: Buffer | null, timeoutMs?: number | undefined } = {}
) {
  const { breaker, retryBudget, pool } = upstream
  if (!breaker.allowRequest()) throw new Unavailable()
  retryBudget.deposit()

  const method = request.method as Dispatcher.HttpMethod
  const isRepeatable = method === 'GET' || method === 'HEAD'
  const options = { path, method, headers: requestHeadersFor(request, body?.length), body, bodyTimeout: timeoutMs }
  let isSettled = false
  let attempts = 0
  let abort: (reason: Error) => void = () => {}

  function timeOut () {
    if (isSettled) return
    const error = new ResponseTimeout(timeoutMs)
    fail(error)
    abort(error)
  }
  // undici's own timeouts fire about half a second late. A late event loop runs its timers before it reads what has
  // arrived meanwhile; that may be the response.
  const timer = setTimeout(() => setImmediate(timeOut), timeoutMs)

  function settle (send: () => void) {
    if (isSettled) return
    isSettled = true
    clearTimeout(timer)
    // The connection's callbacks run in the trace of the request that opened it.
    runInTraceOf(request, send)
  }
  const fail = (error: Error) =>
    settle(() => void reply.send(recordFailure(upstream, error, { isSlow: timeoutMs > DEFAULT_TIMEOUT_MS })))

  reply.raw.once('close', () => {
    if (isSettled) return
    isSettled = true
    clearTimeout(timer)
    breaker.ignored()
    abort(new ClientDisconnected())
  })

  function attempt () {
    attempts++
    abort = sendRequest(pool, options, {
      onResponse (response) {
        const failure = failureOf(response.status)
        if (failure) return fail(failure)
        settle(() => {
          breaker.succeeded()
          respond(request, reply, response)
        })
      },
      onError (error, wasSent) {
        const canRetry = !isSettled && attempts === 1 && !requestErrorOf(error) && (isRepeatable || !wasSent)
        if (canRetry && retryBudget.tryWithdraw()) attempt()
        else fail(error)
      }
    })
  }
  attempt()
}

interface ResponseHandler {
  onResponse(response: ServiceResponse): void
  onError(error: Error, wasSent: boolean): void
}

/** Sends one request and buffers its response. Returns a function that aborts it. */
function sendRequest (pool: Pool, options: Dispatcher.DispatchOptions, { onResponse, onError }: ResponseHandler) {
  let controller: Dispatcher.DispatchController | undefined
  let aborted: Error | undefined
  let status = 0
  let headers: IncomingHttpHeaders = {}
  const chunks: Buffer[] = []
  let size = 0

  pool.dispatch(options, {
    onRequestStart (started) {
      controller = started
      if (aborted) started.abort(aborted)
    },
    onResponseStart (_controller, code, received) {
      status = code
      headers = received
    },
    onResponseData (started, chunk) {
      size += chunk.length
      if (size > MAX_RESPONSE_BYTES) {
        const cause = new Error(`a response is longer than ${MAX_RESPONSE_BYTES} bytes: stream its route in routes.ts`)
        started.abort(Object.assign(new ServerError(), { cause }))
      } else chunks.push(chunk)
    },
    onResponseEnd () {
      onResponse({ status, headers, body: chunks.length === 1 ? chunks[0] as Buffer : Buffer.concat(chunks, size) })
    },
    onResponseError (_controller, error) {
      onError(error, controller !== undefined)
    }
  })

  return (reason: Error) => {
    aborted = reason
    controller?.abort(reason)
  }
}
