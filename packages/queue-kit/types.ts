import type { Correlation, KitLog } from '@tandem/process-kit'

/** A row's id, alone or with options. */
export type Job = string | {
  id: string,
  /** Until a worker can take it. */
  delayMs?: number,
  /** By default that of the code that enqueues it. Name it for jobs that several requests enqueue together. */
  correlation?: Correlation
}

/**
 * Nothing: the job is done, and the row holds the result. `retryAfter(…)`: the job runs again, which does not count as
 * a failure.
 */
export type Outcome = void | { retryAfterMs: number }

/** The outcome of work that has to wait: for a Retry-After, a time of day, another worker's lease. */
export function retryAfter (delayMs: number): Outcome {
  return { retryAfterMs: Math.max(0, Math.ceil(delayMs)) }
}

/** The longest `retryAfter(…)` for another worker's lease: that one can give the row back long before it ends. */
export const MAX_LEASE_WAIT_MS = 5_000

export interface PendingQuery {
  /** Only rows that have waited at least this long. */
  olderThanSeconds: number
  limit: number
  /** Only rows whose id is greater; the result is in id order. */
  after: string | undefined
}

export interface QueueOptions {
  /** Unique among all queues on this Redis: two services with one name would take each other's jobs. */
  name: string
  redisUrl: string
  log: Pick<KitLog, 'info' | 'warn'>
  /** Jobs at once in this process, by default 5. */
  concurrency?: number
  /**
   * Does the work of a row. It can be called twice for a row, even at once, and for a row that is done or deleted, so
   * it must claim the row in Postgres first. When it throws, it is retried 1 s to 64 s later, 8 times in a row, and
   * after that when the sweep finds the row still pending. It must end by itself: a call that hangs takes up one of the
   * `concurrency`.
   */
  work(id: string): Promise<Outcome>
  /**
   * The pending rows, in id order. Redis may have their jobs or have lost them. A claimed row is pending again once its
   * lease has expired.
   */
  listPending(query: PendingQuery): Promise<Job[]>
  /** By default 15. */
  sweepIntervalSeconds?: number
  /** The age from which a sweep enqueues a pending row again, by default 60. */
  sweepMinAgeSeconds?: number
  /** How long running jobs can still take once the queue closes, by default 8. */
  closeTimeoutSeconds?: number
  /** The prefix of every key in Redis, by default `tandem`. */
  prefix?: string
}

/** What tests set of a queue, through what creates it. */
export type QueueTestOptions = Pick<QueueOptions, 'prefix' | 'sweepIntervalSeconds' | 'sweepMinAgeSeconds'>

export interface Queue {
  /**
   * Adds jobs for rows that are committed. It never throws and never takes longer than 2 s: jobs that Redis does not
   * accept now are enqueued from Postgres as soon as Redis is back.
   */
  enqueue(jobs: Job[]): Promise<void>
  /** Starts to work and to sweep. A process that only enqueues need not call it, as long as another one does. */
  start(): void
  /** Takes no more jobs, lets the running ones finish, and disconnects from Redis. */
  close(): Promise<void>
  /** @throws when Redis does not respond */
  ping(): Promise<void>
  /** How many jobs Redis holds. @throws when Redis does not respond */
  depth(): Promise<{ waiting: number, active: number, delayed: number, failed: number }>
}
