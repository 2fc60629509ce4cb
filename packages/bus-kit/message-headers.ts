import { headers, type MsgHdrs } from 'nats'
import type { Correlation } from '@tandem/process-kit'

/** The headers of a message that carries a correlation. */
export function toHeaders ({ traceparent, requestId }: Correlation) {
  const messageHeaders = headers()
  if (traceparent) messageHeaders.set('traceparent', traceparent)
  if (requestId) messageHeaders.set('x-request-id', requestId)
  return messageHeaders
}

/** The correlation that the headers of a message carry. */
export const correlationOf = (messageHeaders: MsgHdrs | undefined): Correlation => ({
  traceparent: messageHeaders?.get('traceparent') || undefined,
  requestId: messageHeaders?.get('x-request-id') || undefined
})
