export { createQueue } from './queue.ts'
export {
  MAX_LEASE_WAIT_MS,
  retryAfter,
  type Job,
  type Outcome,
  type PendingQuery,
  type Queue,
  type QueueOptions,
  type QueueTestOptions
} from './types.ts'
