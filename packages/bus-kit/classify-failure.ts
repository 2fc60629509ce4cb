import { Unavailable } from '@tandem/process-kit'
import { Malformed } from './handlers.ts'
import type { Failure } from './retry-policy.ts'

/** A service that is unavailable comes back, so waiting for it does not count as an attempt. */
export function classifyFailure (error: unknown): Failure {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error]
  return {
    error,
    transient: errors.every((each) => each instanceof Unavailable),
    permanent: errors.every((each) => each instanceof Malformed)
  }
}
