export { createQueue } from './queue.ts'
export { retryAfter, type Job, type Log, type OfferOptions, type Outcome, type Pending, type Priority, type Queue, type QueueOptions } from './types.ts'
