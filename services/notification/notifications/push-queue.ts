import type { DeliveryJob } from './plan.ts'

/** The queue from which workers send pushes. */
export interface PushQueue {
  /** Enqueues committed deliveries. Never throws: a sweep finds in Postgres what Redis does not accept. */
  enqueue(jobs: DeliveryJob[]): Promise<void>
  start(): void
  close(): Promise<void>
  /** @throws if Redis does not answer */
  ping(): Promise<void>
  /** How many low-priority pushes Redis holds. @throws if Redis does not answer */
  lowPriorityDepth(): Promise<number>
}
