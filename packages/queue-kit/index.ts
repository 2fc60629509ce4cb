export { createQueue } from './queue.ts'
export {
  retryAfter,
  type Job,
  type Outcome,
  type PendingQuery,
  type Queue,
  type QueueOptions,
  type QueueTestOptions
} from './types.ts'
