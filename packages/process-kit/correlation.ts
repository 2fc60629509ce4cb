import { context, createContextKey, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Context, SpanKind } from '@opentelemetry/api'
import { withLogFields } from './logging.ts'

/** The ids that find every log line of the work that one request causes. A message or a job carries them. */
export interface Correlation {
  /** W3C trace context. */
  traceparent?: string | undefined
  /** The `x-request-id` of the request. */
  requestId?: string | undefined
  /** The event whose handler runs, or that caused the job. */
  eventId?: string | undefined
}

const REQUEST_ID = createContextKey('request id')
const EVENT_ID = createContextKey('event id')
const tracer = trace.getTracer('@tandem/process-kit')

/** The correlation of the running code, to send with a message. */
export function currentCorrelation (): Correlation {
  const active = context.active()
  const carrier: { traceparent?: string } = {}
  propagation.inject(active, carrier)
  const requestId = active.getValue(REQUEST_ID) as string | undefined
  const eventId = active.getValue(EVENT_ID) as string | undefined
  return { ...carrier, ...requestId && { requestId }, ...eventId && { eventId } }
}

export const withRequestId = (parent: Context, requestId: string | undefined) => parent.setValue(REQUEST_ID, requestId)

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
  let parent = traceparent ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT
  parent = withRequestId(parent, requestId).setValue(EVENT_ID, eventId)
  parent = withLogFields(parent, () => ({ requestId, eventId }))
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
