import type { Hooks } from '@tandem/http-kit'
import { parseRetryAfter } from './fcm.ts'
import type { Outcome, Provider } from './provider.ts'

type Send = NonNullable<ReturnType<Hooks['senderOf']>>

/**
 * Sends pushes by the provider of the operator. It answers 2xx for a push that it took, 410 for a dead token, and 400 or
 * 422 for a push that it never takes; anything else is tried again later.
 */
export function createHookProvider (send: Send): Provider {
  return {
    async send (push) {
      try {
        return toOutcome(await send(push.collapseId, push))
      } catch (error) {
        const { name, message } = error as Error
        return { type: 'later', reason: name === 'TimeoutError' ? 'no answer within 10 s' : message }
      }
    },
    async close () {}
  }
}

function toOutcome ({ status, retryAfter }: Awaited<ReturnType<Send>>): Outcome {
  if (status >= 200 && status < 300) return { type: 'sent' }
  const reason = `status ${status}`
  if (status === 410) return { type: 'dead', reason }
  if (status === 400 || status === 422) return { type: 'refused', reason }
  const retryAfterMs = parseRetryAfter(retryAfter ?? undefined)
  return { type: 'later', reason, ...retryAfterMs !== undefined && { retryAfterMs } }
}
