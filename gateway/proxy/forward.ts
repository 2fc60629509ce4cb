import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { runInTraceOf, PayloadTooLarge, RequestTimeout, ServiceUnavailable, ValidationError } from '@tandem/http-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { copyResponseHeaders, requestHeadersFor } from './headers.ts'
import type { Upstream } from './pools.ts'

/**
 * Longer responses are streamed. Up to this length they are buffered, so that a broken one can still become a clean
 * 503.
 */
const MAX_BUFFERED_BYTES = 256 * 1024

interface ProxiedRequest {
  upstream: Upstream
  /** The path at the service, with the query. */
  path: string
  body: Buffer | Readable | null
  /** The length of the body in bytes, if known. */
  length: number | undefined
  /** How long the service can take to respond, or stay silent while a body is streamed. */
  timeoutMs: number
}

const invalidRequestCodes = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'])

const isJson = ({ 'content-type': type, 'content-encoding': encoding }: IncomingHttpHeaders) =>
  type?.startsWith('application/json') && encoding === undefined

/** Node writes a string together with the headers; a Buffer takes a second write. */
function decodeUtf8 (bytes: Buffer | undefined) {
  if (!bytes || !isUtf8(bytes)) return bytes
  return bytes.toString()
}

// An error that a client can cause must not count against the service, or any client could open its breaker.
function clientErrorOf (error: Error): Error | undefined {
  if ([PayloadTooLarge, RequestTimeout, ServiceUnavailable, ValidationError].some((kind) => error instanceof kind)) {
    return error
  }
  if ('code' in error && invalidRequestCodes.has(String(error.code))) {
    return new ValidationError('The request is not valid HTTP. Please check its headers and its length')
  }
}

/**
 * Forwards `request` to a service and its response back to the client: status, headers and body unchanged. Throws
 * ServiceUnavailable if the service is unreachable, too slow, or breaks off. A GET or HEAD is retried once after a
 * broken connection, within the retry budget; any other method only if not a byte was sent.
 */
export function forward (
  request: FastifyRequest,
  reply: FastifyReply,
  { upstream, path, body, length, timeoutMs }: ProxiedRequest
) {
  const { breaker, retryBudget } = upstream
  const isStreamed = body instanceof Readable
  if (!breaker.allowRequest()) {
    if (isStreamed) body.destroy()
    throw new ServiceUnavailable()
  }
  retryBudget.deposit()

  const method = request.method as Dispatcher.HttpMethod
  const pool = isStreamed ? upstream.streamingPool : upstream.pool
  const isRepeatable = method === 'GET' || method === 'HEAD'
  const headers = requestHeadersFor(request, length)
  let controller: Dispatcher.DispatchController | undefined
  let isSettled = false
  let attempts = 0

  const timer = setTimeout(() => {
    if (!isStreamed || request.raw.complete) return fail(new Error(`no response within ${timeoutMs} ms`))
    // While received bytes wait to be read, the client is not slow: the service has more uploads than it can read.
    fail(
      body.readableLength > 0
        ? new ServiceUnavailable()
        : new ValidationError('The body did not arrive in time. Please try again')
    )
  }, timeoutMs)

  const send = (payload: unknown) =>
    runInTraceOf(request, () => {
      void reply.send(payload)
    })

  function settle () {
    if (isSettled) return false
    isSettled = true
    clearTimeout(timer)
    return true
  }

  function fail (error: Error) {
    if (!settle()) return
    controller?.abort(error)
    if (isStreamed) body.destroy()
    const clientError = clientErrorOf(error)
    if (clientError) {
      breaker.ignored()
      return send(clientError)
    }
    breaker.failed()
    upstream.countFailure()
    send(
      Object.assign(new ServiceUnavailable(), {
        cause: new Error(`${upstream.name} did not respond`, { cause: error })
      })
    )
  }

  function respond (
    status: number,
    responseHeaders: IncomingHttpHeaders,
    payload: Buffer | string | Readable | undefined
  ) {
    // An intermediary responds in the service's place, and not in the envelope.
    if (status === 502 || status === 504) return fail(new Error(`responded with ${status}`))
    if (!settle()) return
    breaker.succeeded()
    reply.code(status)
    copyResponseHeaders(reply, responseHeaders)
    send(payload)
  }

  function attempt () {
    attempts++
    let started = false
    let status = 0
    let responseHeaders: IncomingHttpHeaders = {}
    let chunks: Buffer[] = []
    let size = 0
    let stream: Readable | undefined

    function startStreaming () {
      stream = new Readable({
        read: () => controller?.resume(),
        destroy (error, done) {
          controller?.abort(error ?? new Error('the client disconnected'))
          done(error)
        }
      })
      for (const chunk of chunks) stream.push(chunk)
      chunks = []
      respond(status, responseHeaders, stream)
      controller?.pause()
    }

    pool.dispatch({ path, method, headers, body, bodyTimeout: timeoutMs }, {
      onRequestStart (starting) {
        started = true
        controller = starting
        if (isSettled) starting.abort(new Error('the request has already ended'))
      },
      onBodySent () {
        if (isStreamed && !isSettled) timer.refresh()
      },
      onResponseStart (_controller, code, received) {
        status = code
        responseHeaders = received
      },
      onResponseData (_controller, chunk) {
        if (stream) {
          if (!stream.push(chunk)) controller?.pause()
          return
        }
        chunks.push(chunk)
        size += chunk.length
        if (size > MAX_BUFFERED_BYTES) startStreaming()
      },
      onResponseEnd () {
        controller = undefined
        if (isStreamed) body.destroy()
        if (stream) return void stream.push(null)
        const whole = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size)
        respond(status, responseHeaders, size === 0 ? undefined : isJson(responseHeaders) ? decodeUtf8(whole) : whole)
      },
      onResponseError (_controller, error) {
        if (stream) return void stream.destroy(error)
        if (isSettled) return
        const isUnsent = !started && !(isStreamed && (body.readableDidRead || body.destroyed))
        if (attempts === 1 && !clientErrorOf(error) && (isRepeatable || isUnsent) && retryBudget.tryWithdraw()) {
          attempt()
        } else fail(error)
      }
    })
  }

  attempt()
}
