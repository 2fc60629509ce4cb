import { randomUUID } from 'node:crypto'
import type { Context } from '@opentelemetry/api'
import { context, isSpanContextValid, propagation, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { FastifyInstance, FastifyPluginCallback, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    trace: Context
  }
}

let carried = false
let spans: FastifyPluginCallback | undefined

/** Makes trace contexts follow calls and cross processes, without recording anything. May be called again. */
function carryTraces () {
  if (carried) return
  carried = true
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
}

/**
 * Starts tracing for this process. Spans are recorded and sent only when OTEL_EXPORTER_OTLP_ENDPOINT is set: the SDK costs 200 ms
 * and 45 MB, so it is not even loaded otherwise. Returns what sends the last spans.
 */
export async function startTracing (name: string): Promise<() => Promise<void>> {
  if (!process.env.OTEL_EXPORTER_OTLP_ENDPOINT) {
    carryTraces()
    return async () => {}
  }
  process.env.OTEL_METRICS_EXPORTER ??= 'none'
  process.env.OTEL_LOGS_EXPORTER ??= 'none'
  const [{ NodeSDK }, { FastifyOtelInstrumentation }] = await Promise.all([import('@opentelemetry/sdk-node'), import('@fastify/otel')])
  const sdk = new NodeSDK({
    serviceName: name,
    contextManager: new AsyncLocalStorageContextManager(),
    textMapPropagator: new W3CTraceContextPropagator()
  })
  sdk.start()
  carried = true
  spans = new FastifyOtelInstrumentation({
    // A query may hold a token, and the instrumentation would send it along.
    requestHook: (span, request) => span.setAttribute('url.path', request.url.split('?', 1)[0] ?? '')
  }).plugin()
  return () => sdk.shutdown()
}

// Node keeps random bytes for UUIDs in store; randomBytes asks the system each time, and costs 5 µs.
const randomHex = () => randomUUID().replaceAll('-', '')

/** The context that a caller's `traceparent` describes, or a new trace: one that is malformed counts as none. */
export function extractTraceContext ({ traceparent, tracestate }: Record<string, unknown>): Context {
  const carrier = { traceparent, tracestate: typeof tracestate === 'string' && tracestate.length <= 512 ? tracestate : undefined }
  const continued = propagation.extract(ROOT_CONTEXT, carrier)
  const parent = trace.getSpanContext(continued)
  if (parent && isSpanContextValid(parent)) return continued
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: randomHex(),
    spanId: randomHex().slice(0, 16),
    traceFlags: TraceFlags.SAMPLED
  })
}

/** The id of the trace that `where` (by default, the running code) belongs to. */
export const traceId = (where = context.active()) => trace.getSpanContext(where)?.traceId

/** Runs `work` in the trace of a request: a callback of a shared connection belongs to the request that opened it. */
export function runInTraceOf<Result> (request: FastifyRequest, work: () => Result): Result {
  return context.with(request.trace, work)
}

/** Runs each request of `app` in its trace, and tells the caller the id of the request. */
export async function traceRequests (app: FastifyInstance) {
  carryTraces()
  if (spans) await app.register(spans)
  app.decorateRequest('trace', null as never)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    request.trace = spans && trace.getSpan(context.active()) ? context.active() : extractTraceContext(request.headers)
    context.with(request.trace, done)
  })
}
