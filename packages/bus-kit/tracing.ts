import { context, propagation, ROOT_CONTEXT, trace, type SpanKind } from '@opentelemetry/api'

const tracer = trace.getTracer('@tandem/bus-kit')

/** The W3C `traceparent` of the running code, to send with a message; undefined outside a trace. */
export function currentTrace () {
  const carrier: { traceparent?: string } = {}
  propagation.inject(context.active(), carrier)
  return carrier.traceparent
}

export const traceIdOf = (traceparent: string | null) => traceparent?.split('-')[1]

/** Runs `work` in the trace of a received message, as its own span where spans are recorded. */
export async function continueTrace<Result> (
  traceparent: string | undefined,
  name: string,
  kind: SpanKind,
  work: () => Promise<Result>
): Promise<Result> {
  const parent = traceparent ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT
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
