import type { DeliveryJob } from './plan.ts'

/** The queue from which workers send pushes. */
export interface PushQueue {
  /** Enqueues committed deliveries. Never throws: a sweep finds in Postgres what Redis does not accept. */
  enqueue(jobs: DeliveryJob[]): Promise<void>
  /** How many pushes this process can send right now without the queue. */
  freeSlots(): number
  /**
   * Sends committed deliveries that this process has claimed while it inserted them. It returns at once and never
   * throws: what fails goes to the queue, and a sweep finds what a process that died had claimed.
   */
  sendClaimed(jobs: DeliveryJob[]): void
  start(): void
  close(): Promise<void>
  /** @throws if Redis does not answer */
  ping(): Promise<void>
  /** How many low-priority pushes Redis holds. @throws if Redis does not answer */
  lowPriorityDepth(): Promise<number>
}
