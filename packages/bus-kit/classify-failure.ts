import { Unavailable } from '@tandem/process-kit'
import { Malformed } from './handlers.ts'
import type { Failure } from './retry-policy.ts'

/** A service that is unavailable comes back, so waiting for it does not count as an attempt. */
export function classifyFailure (error: unknown): Failure {
  return { error, transient: error instanceof Unavailable, permanent: error instanceof Malformed }
}
