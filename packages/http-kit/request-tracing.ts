import type { Context } from '@opentelemetry/api'
import { context, trace } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { extractTraceContext, isRecordingSpans, propagateTraces } from '@tandem/process-kit'

declare module 'fastify' {
  interface FastifyRequest {
    trace: Context
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

/** Runs each request of `app` in its trace and returns the request id in `x-request-id`. */
export async function traceRequests (app: FastifyInstance) {
  propagateTraces()
  const recordsSpans = isRecordingSpans()
  if (recordsSpans) await app.register(await loadSpanPlugin())
  app.decorateRequest('trace', null as never)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    request.trace = recordsSpans && trace.getSpan(context.active())
      ? context.active()
      : extractTraceContext(request.headers)
    context.with(request.trace, done)
  })
}
