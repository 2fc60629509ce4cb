import { SpanKind } from '@opentelemetry/api'
import { continueCorrelation, withTimeout } from '@tandem/process-kit'
import { classifyFailure } from './classify-failure.ts'
import { parseEnvelope } from './envelope.ts'
import type { FailedMessage } from './failed-messages.ts'
import { Malformed, type Handler } from './handlers.ts'
import { handled, handling } from './metrics.ts'
import type { Failure } from './retry-policy.ts'

const HANDLER_TIMEOUT_MS = 30_000

/** A message that was parsed: what it is about, and what handles it. */
export interface ParsedMessage {
  subject: string
  batched: boolean
  handle: () => Promise<void>
}

/** Finds the handlers of a message. One that is unreadable fails when it is handled. */
export function parseMessage (
  handlersByType: Map<string, Handler[]>,
  { key, type, message }: FailedMessage
): ParsedMessage {
  try {
    const envelope = parseEnvelope(message)
    if (envelope.type !== type) throw new Error(`it was published as ${type}`)
    const ofType = handlersByType.get(type) ?? []
    return {
      subject: envelope.subject,
      batched: ofType.every((handler) => handler.batched),
      async handle () {
        for (const handler of ofType) await handler.handle(envelope)
      }
    }
  } catch (error) {
    return {
      subject: key,
      batched: false,
      handle: async () => {
        throw new Malformed(`unreadable message: ${String(error)}`)
      }
    }
  }
}

/** Handles a message once, with the ids of what caused it. @returns why it failed; undefined if it did not */
export async function handleMessage (
  { type, key, traceparent, request_id }: FailedMessage,
  { handle }: ParsedMessage
): Promise<Failure | undefined> {
  const stopTimer = handling.startTimer({ type })
  const correlation = { traceparent: traceparent ?? undefined, requestId: request_id ?? undefined, eventId: key }
  try {
    await continueCorrelation(
      correlation,
      `consume ${type}`,
      SpanKind.CONSUMER,
      async () => await withTimeout(HANDLER_TIMEOUT_MS, handle())
    )
    handled.inc({ type, outcome: 'done' })
  } catch (error) {
    const failure = classifyFailure(error)
    handled.inc({ type, outcome: failure.permanent ? 'malformed' : 'failed' })
    return failure
  } finally {
    stopTimer()
  }
}
