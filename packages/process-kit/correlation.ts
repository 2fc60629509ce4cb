import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { SpanKind } from '@opentelemetry/api'
import { readLogFields, withLogFields } from './logging.ts'

/** The ids that find every log line of the work that one request causes. A message or a job carries them. */
export interface Correlation {
  /** W3C trace context. */
  traceparent?: string | undefined
  /** The `x-request-id` of the request. */
  requestId?: string | undefined
  /** The event whose handler runs, or that caused the job. */
  eventId?: string | undefined
}

const tracer = trace.getTracer('@tandem/process-kit')

/** The correlation of the running code, to send with a message. */
export function currentCorrelation (): Correlation {
  const active = context.active()
  const carrier: { traceparent?: string } = {}
  propagation.inject(active, carrier)
  const { requestId, eventId }: Correlation = readLogFields(active) ?? {}
  return { ...carrier, ...requestId && { requestId }, ...eventId && { eventId } }
}

/**
 * Runs `work` with the correlation of a received message or job: its log lines and what it sends have the same ids. It is
 * a span of its own where spans are recorded.
 */
export async function continueCorrelation<Result> (
  { traceparent, requestId, eventId }: Correlation,
  name: string,
  kind: SpanKind,
  work: () => Promise<Result>
): Promise<Result> {
  const received = traceparent ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT
  const parent = withLogFields(received, () => ({ requestId, eventId }))
  return await tracer.startActiveSpan(name, { kind }, parent, async (span) => {
    try {
      return await work()
    } catch (error) {
      span.recordException(String(error))
      throw error
    } finally {
      span.end()
    }
  })
}
