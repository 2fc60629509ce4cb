import { randomUUID } from 'node:crypto'
import type { Context } from '@opentelemetry/api'
import { context, isSpanContextValid, propagation, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'

let isPropagating = false
let isRecording = false

/** Propagates trace contexts through async calls and between processes, without recording spans. It is idempotent. */
export function propagateTraces () {
  if (isPropagating) return
  isPropagating = true
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
}

/**
 * Starts tracing in this process. Spans are recorded and exported only if OTEL_EXPORTER_OTLP_ENDPOINT is set: the SDK
 * costs 200 ms and 45 MB, so it is not even loaded otherwise. Returns a function that flushes the last spans.
 */
export async function startTracing (name: string): Promise<() => Promise<void>> {
  if (!process.env.OTEL_EXPORTER_OTLP_ENDPOINT) {
    propagateTraces()
    return async () => {}
  }
  process.env.OTEL_METRICS_EXPORTER ??= 'none'
  process.env.OTEL_LOGS_EXPORTER ??= 'none'
  const { NodeSDK } = await import('@opentelemetry/sdk-node')
  const sdk = new NodeSDK({
    serviceName: name,
    contextManager: new AsyncLocalStorageContextManager(),
    textMapPropagator: new W3CTraceContextPropagator()
  })
  sdk.start()
  isPropagating = true
  isRecording = true
  return () => sdk.shutdown()
}

/** Whether this process records spans. */
export const isRecordingSpans = () => isRecording

// Node caches random bytes for UUIDs; randomBytes makes a system call each time and costs 5 µs.
const randomHex = () => randomUUID().replaceAll('-', '')

/** The trace context of a caller's `traceparent`, or a new trace if it is missing or malformed. */
export function extractTraceContext ({ traceparent, tracestate }: Record<string, unknown>): Context {
  const carrier = {
    traceparent,
    tracestate: typeof tracestate === 'string' && tracestate.length <= 512 ? tracestate : undefined
  }
  const continued = propagation.extract(ROOT_CONTEXT, carrier)
  const parent = trace.getSpanContext(continued)
  if (parent && isSpanContextValid(parent)) return continued
  return newTraceContext(randomHex())
}

/** The id of the first span of a new trace. */
export const spanIdOf = (newTraceId: string) => newTraceId.slice(0, 16)

/** A new trace. @param id 32 random hexadecimal digits */
export const newTraceContext = (id: string): Context =>
  trace.setSpanContext(ROOT_CONTEXT, { traceId: id, spanId: spanIdOf(id), traceFlags: TraceFlags.SAMPLED })

/** The id of the trace in `traceContext`; by default, the trace of the running code. */
export const traceId = (traceContext = context.active()) => trace.getSpanContext(traceContext)?.traceId
