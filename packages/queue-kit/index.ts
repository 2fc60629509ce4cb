export { createQueue } from './queue.ts'
export {
  retryAfter,
  type Job,
  type Log,
  type EnqueueOptions,
  type Outcome,
  type PendingQuery,
  type Priority,
  type Queue,
  type QueueOptions
} from './types.ts'
