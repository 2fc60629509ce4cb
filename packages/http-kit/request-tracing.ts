import type { Context } from '@opentelemetry/api'
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { bindLog, extractTraceContext, isRecordingSpans, propagateTraces, withLogFields } from '@tandem/process-kit'

declare module 'fastify' {
  interface FastifyRequest {
    trace: Context
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
  return context.with(request.trace, work)
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
export function createRequestLog (log: FastifyBaseLogger, requestFields: object) {
  const requestLog = log.child({})
  bindLog(requestLog, withLogFields(ROOT_CONTEXT, () => requestFields))
  return requestLog
}

/**
 * Runs each request of `app` in its trace, with its ids on every log line, and returns the request id in
 * `x-request-id`.
 */
export async function traceRequests (app: FastifyInstance, { isPublic }: { isPublic: boolean }) {
  propagateTraces()
  if (isPublic) {
    app.addHook('onRequest', (request, _reply, done) => {
      delete request.raw.headers['traceparent']
      delete request.raw.headers['tracestate']
      done()
    })
  }
  const recordsSpans = isRecordingSpans()
  if (recordsSpans) await app.register(await loadSpanPlugin())
  app.decorateRequest('trace', null as never)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    const traceContext = recordsSpans && trace.getSpan(context.active())
      ? context.active()
      : extractTraceContext(request.headers)
    request.trace = withLogFields(traceContext, () => ({
      requestId: request.id,
      accountId: request.account?.id,
      ...request.routeOptions.config.logFields
    }))
    bindLog(request.log, request.trace)
    context.with(request.trace, done)
  })
}
