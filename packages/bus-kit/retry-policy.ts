const MAX_ATTEMPTS = 10
/** The longest time between two attempts. */
export const MAX_RETRY_DELAY_MS = 60_000
const TRANSIENT_RETRY_DELAY_MS = 10_000
const MAX_AGE_MS = 14 * 24 * 60 * 60 * 1_000
// A message delivered more often than this was never acknowledged; handling it may crash the process.
const MAX_DELIVERIES = 5

/** Why a message was not handled. */
export interface Failure {
  error: unknown
  /** Another service caused it, so it does not count as an attempt. */
  transient: boolean
  /** No attempt can succeed. */
  permanent: boolean
}

/** What a failed message stores: its counted attempts, and when to retry it. A dead letter has no `retryInMs`. */
export interface RetryDecision {
  attempts: number
  retryInMs: number | undefined
}

interface FailedState {
  /** Counts the attempt that has just failed. */
  attempts: number
  ageMs: number
  isDeadLetter: boolean
}

/** Whether a message goes to its handlers, or waits among the failed messages because it may crash the process. */
export const isDeliveredTooOften = (deliveryCount: number) => deliveryCount > MAX_DELIVERIES

/** Whether every attempt has ended the process before it could record a result. A replay by an operator is tried. */
export const hasExhaustedAttempts = ({ attempts, isDeadLetter }: Omit<FailedState, 'ageMs'>) =>
  attempts > MAX_ATTEMPTS && !isDeadLetter

/** After the first failure of a message that the broker delivered. */
export function decideFirstRetry ({ transient, permanent }: Omit<Failure, 'error'>): RetryDecision {
  const attempts = transient ? 0 : 1
  return { attempts, retryInMs: permanent ? undefined : delayAfter(attempts) }
}

/** After a later failure. Even a transient one is given up after 14 days. */
export function decideNextRetry (state: FailedState, { transient, permanent }: Omit<Failure, 'error'>): RetryDecision {
  const attempts = transient ? state.attempts - 1 : state.attempts
  const isGivenUp = permanent || state.isDeadLetter || attempts >= MAX_ATTEMPTS || state.ageMs > MAX_AGE_MS
  if (isGivenUp) return { attempts, retryInMs: undefined }
  return { attempts, retryInMs: transient ? TRANSIENT_RETRY_DELAY_MS : delayAfter(attempts) }
}

const delayAfter = (attempts: number) => attempts === 0 ? 0 : Math.min(1_000 * 2 ** (attempts - 1), MAX_RETRY_DELAY_MS)
