import type { Context } from '@opentelemetry/api'
import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import {
  bindLog,
  extractTraceContext,
  isRecordingSpans,
  newTraceContext,
  spanIdOf,
  propagateTraces,
  withLogFields
} from '@tandem/process-kit'

const TRACE = Symbol('trace')

declare module 'fastify' {
  interface FastifyRequest {
    [TRACE]: Context | undefined
    /** The trace of the request, with the fields of its log lines. It is created when it is first read. */
    readonly trace: Context
  }
  interface FastifyContextConfig {
    /** Fields that stand on each log line of the route's requests. */
    logFields?: Record<string, string>
  }
}

/**
 * Runs `work` in the trace of a request. A callback of a shared connection would otherwise run in the trace of the
 * request that opened it.
 */
export function runInTraceOf<Result> (request: FastifyRequest, work: () => Result): Result {
  return isRecordingSpans() ? context.with(request.trace, work) : work()
}

// It is loaded only where spans are recorded, because its SDK costs 200 ms and 45 MB.
async function loadSpanPlugin () {
  const { FastifyOtelInstrumentation } = await import('@fastify/otel')
  return new FastifyOtelInstrumentation({
    // A query may contain a token, which the instrumentation would export.
    requestHook: (span, request) => span.setAttribute('url.path', request.url.split('?', 1)[0] ?? '')
  }).plugin()
}

/**
 * The logger of one request. Its fields come from the request's context, not from the running code: callbacks of a
 * connection may run in the context of another request.
 */
export function createRequestLog (log: FastifyBaseLogger, requestFields: { requestId?: string }) {
  // As pino's `child`, which also copies the bindings and the methods of each level, and takes ten times as long.
  const requestLog = Object.create(log) as FastifyBaseLogger
  bindLog(requestLog, requestFields)
  return requestLog
}

/** The `traceparent` of what `request`, of a public server, causes. */
export function traceparentOf (request: FastifyRequest): string {
  if (!isRecordingSpans()) {
    const id = traceIdOf(request)
    return `00-${id}-${spanIdOf(id)}-01`
  }
  const carrier: { traceparent?: string } = {}
  propagation.inject(request.trace, carrier)
  return carrier.traceparent ?? ''
}

// A trace id has the 128 bits of a UUID.
const traceIdOf = ({ id }: FastifyRequest) => id.replaceAll('-', '')

/**
 * Runs each request of `app` in its trace, with its ids on every log line, and returns the request id in
 * `x-request-id`. Where `isPublic`, each request begins a trace whose id is the request's, and code runs in it only
 * where spans are recorded.
 */
export async function traceRequests (app: FastifyInstance, { isPublic }: { isPublic: boolean }) {
  propagateTraces()
  const recordsSpans = isRecordingSpans()
  const addLogFields = (running: Context, request: FastifyRequest) =>
    withLogFields(running, () => ({
      requestId: request.id,
      accountId: request.account?.id,
      ...request.routeOptions.config.logFields
    }))
  if (recordsSpans) {
    app.addHook('onRequest', (request, _reply, done) => {
      if (isPublic) {
        delete request.raw.headers['traceparent']
        delete request.raw.headers['tracestate']
      }
      // The plugin runs handlers in a context that it derives from this one: without the fields, what they publish would
      // not carry the request id.
      context.with(addLogFields(ROOT_CONTEXT, request), done)
    })
    await app.register(await loadSpanPlugin())
  }

  function createTrace (request: FastifyRequest) {
    const traceContext = recordsSpans && trace.getSpan(context.active())
      ? context.active()
      : isPublic
      ? newTraceContext(traceIdOf(request))
      : extractTraceContext(request.headers)
    return addLogFields(traceContext, request)
  }

  // The prototype gets no value, because a request has no trace until one is needed.
  app.decorateRequest(TRACE)
  app.decorateRequest('trace', {
    getter (this: FastifyRequest) {
      return this[TRACE] ??= createTrace(this)
    }
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    bindLog(request.log, request)
    if (isPublic && !recordsSpans) done()
    else context.with(request.trace, done)
  })
}
