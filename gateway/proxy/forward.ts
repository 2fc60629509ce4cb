import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { runInTraceOf, PayloadTooLarge, RequestTimeout, ServiceUnavailable, ValidationError } from '@tandem/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher } from 'undici'
import { answerWith, headersFor } from './headers.ts'
import type { Upstream } from './pools.ts'

/** Longer answers are streamed; up to here they are read whole, so that one which breaks off can still become a clean failure. */
const wholeAnswer = 256 * 1024

interface ProxiedRequest {
  upstream: Upstream
  /** Where at the service, with the query. */
  path: string
  body: Buffer | Readable | null
  /** Of the body, when it is known. */
  length: number | undefined
  /** How long, in milliseconds, the service may take, or be silent while it streams. */
  timeoutMs: number
}

const unsendable = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'])

const isJson = ({ 'content-type': type, 'content-encoding': encoding }: IncomingHttpHeaders) => type?.startsWith('application/json') && encoding === undefined

/** Text leaves in one write together with the headers; bytes would take a second one. */
function textOf (bytes: Buffer | undefined) {
  if (!bytes || !isUtf8(bytes)) return bytes
  return bytes.toString()
}

// What a client can bring about must not count against the service, or anyone could open its breaker.
function clientErrorOf (error: Error): Error | undefined {
  if ([PayloadTooLarge, RequestTimeout, ServiceUnavailable, ValidationError].some((kind) => error instanceof kind)) return error
  if ('code' in error && unsendable.has(String(error.code))) return new ValidationError('The request cannot be passed on')
}

/**
 * Passes `request` on to a service, and what the service answers back: status, headers and body as they are. A service that cannot
 * be reached, is too slow, or breaks off is ServiceUnavailable. A request that changes nothing is tried once more after a failure,
 * within a budget; any other only when not a byte of it was sent.
 */
export function forward (request: FastifyRequest, reply: FastifyReply, { upstream, path, body, length, timeoutMs }: ProxiedRequest) {
  const { breaker, retries } = upstream
  const streamed = body instanceof Readable
  if (!breaker.allowRequest()) {
    if (streamed) body.destroy()
    throw new ServiceUnavailable()
  }
  retries.earn()

  const method = request.method as Dispatcher.HttpMethod
  const pool = streamed ? upstream.streams : upstream.pool
  const repeatable = method === 'GET' || method === 'HEAD'
  const headers = headersFor(request, length)
  let controller: Dispatcher.DispatchController | undefined
  let settled = false
  let attempts = 0

  const timer = setTimeout(() => {
    if (!streamed || request.raw.complete) return fail(new Error(`no answer in ${timeoutMs} ms`))
    // Where bytes that came wait to be taken, it is not the client who is slow: the service has more uploads than it can read.
    fail(body.readableLength > 0 ? new ServiceUnavailable() : new ValidationError('The body did not arrive in time'))
  }, timeoutMs)

  const send = (payload: unknown) => runInTraceOf(request, () => { void reply.send(payload) })

  function settle () {
    if (settled) return false
    settled = true
    clearTimeout(timer)
    return true
  }

  function fail (error: Error) {
    if (!settle()) return
    controller?.abort(error)
    if (streamed) body.destroy()
    const blame = clientErrorOf(error)
    if (blame) {
      breaker.ignored()
      return send(blame)
    }
    breaker.failed()
    upstream.countFailure()
    send(Object.assign(new ServiceUnavailable(), { cause: new Error(`${upstream.name} did not answer`, { cause: error }) }))
  }

  function answer (status: number, answered: IncomingHttpHeaders, payload: Buffer | string | Readable | undefined) {
    // Something between here and the service speaks for it, and not in the envelope.
    if (status === 502 || status === 504) return fail(new Error(`answered with ${status}`))
    if (!settle()) return
    breaker.answered()
    reply.code(status)
    answerWith(reply, answered)
    send(payload)
  }

  function attempt () {
    attempts++
    let started = false
    let status = 0
    let answered: IncomingHttpHeaders = {}
    let chunks: Buffer[] = []
    let size = 0
    let stream: Readable | undefined

    function startStreaming () {
      stream = new Readable({
        read: () => controller?.resume(),
        destroy (error, done) {
          controller?.abort(error ?? new Error('the client left'))
          done(error)
        }
      })
      for (const chunk of chunks) stream.push(chunk)
      chunks = []
      answer(status, answered, stream)
      controller?.pause()
    }

    pool.dispatch({ path, method, headers, body, bodyTimeout: timeoutMs }, {
      onRequestStart (starting) {
        started = true
        controller = starting
        if (settled) starting.abort(new Error('too late'))
      },
      onBodySent () {
        if (streamed && !settled) timer.refresh()
      },
      onResponseStart (_controller, code, given) {
        status = code
        answered = given
      },
      onResponseData (_controller, chunk) {
        if (stream) {
          if (!stream.push(chunk)) controller?.pause()
          return
        }
        chunks.push(chunk)
        size += chunk.length
        if (size > wholeAnswer) startStreaming()
      },
      onResponseEnd () {
        controller = undefined
        if (streamed) body.destroy()
        if (stream) return void stream.push(null)
        const whole = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size)
        answer(status, answered, size === 0 ? undefined : isJson(answered) ? textOf(whole) : whole)
      },
      onResponseError (_controller, error) {
        if (stream) return void stream.destroy(error)
        if (settled) return
        const untouched = !started && !(streamed && (body.readableDidRead || body.destroyed))
        if (attempts === 1 && !clientErrorOf(error) && (repeatable || untouched) && retries.spend()) attempt()
        else fail(error)
      }
    })
  }

  attempt()
}
