import type { FastifyRequest } from 'fastify'
import { clientOf } from '../rate-limits/limits.ts'
import { createMemoryCounter } from '../rate-limits/memory-counter.ts'

// Each begun sign-in is a row of identity for five minutes, and anybody who reaches the console can begin one.
const MAX_PER_MINUTE = 60
const MINUTE_MS = 60_000

/** Counts attempts by network. The returned function says in how many seconds the next one is possible; 0 for now. */
export function createAttemptLimit () {
  const counter = createMemoryCounter()
  return (request: FastifyRequest) => {
    const { current, ttl } = counter.count(clientOf(request), MINUTE_MS)
    return current > MAX_PER_MINUTE ? Math.ceil(ttl / 1_000) : 0
  }
}
