/** What this kit tells of its queue; every logger of the house has it. */
export interface Log {
  info (details: object, message: string): void
  warn (details: object, message: string): void
}

/** `low` jobs wait until no `high` one is left. */
export type Priority = 'high' | 'low'

export interface EnqueueOptions {
  /** Milliseconds until a worker may take it. */
  delayMs?: number
  /** `high` unless told. */
  priority?: Priority
}

/** A row's id, alone or with how it is to be worked on. */
export type Job = string | ({ id: string } & EnqueueOptions)

/** Nothing: the row says what came of it, and the job is over. `retryAfter(…)`: the row comes again, which counts as no failure. */
export type Outcome = void | { retryAfterMs: number }

/** The outcome of work that has to wait: a Retry-After, a time of day, another worker's lease. */
export function retryAfter (milliseconds: number): Outcome {
  return { retryAfterMs: Math.max(0, Math.ceil(milliseconds)) }
}

export interface PendingQuery {
  /** Only rows that have been waiting at least this long. */
  olderThanSeconds: number
  limit: number
  /** Only rows whose id is greater; the answer is in the order of ids. */
  after: string | undefined
}

export interface QueueOptions {
  /** Of this queue alone among all that share the Redis: two services with one name would take each other's jobs. */
  name: string
  redisUrl: string
  log: Log
  /** Jobs at once in this process, 5 unless told. */
  concurrency?: number
  /**
   * Does what the row asks for. It may be called twice for a row, even at once, and for a row that is done or gone: it claims the row in
   * Postgres first. What it throws is tried again, 1 s to 64 s later, 8 times in a row, and after that once the sweeper finds the row still waiting.
   * It must end by itself: a call that hangs holds one of the places.
   */
  work (id: string): Promise<Outcome>
  /** The rows that still wait, in the order of their ids. Their jobs may be known to Redis or lost. */
  listPending (wanted: PendingQuery): Promise<Job[]>
  /** Seconds between two sweeps, 15 unless told. */
  sweepIntervalSeconds?: number
  /** The age in seconds from which a waiting row is offered again, 60 unless told. */
  sweepMinAgeSeconds?: number
  /** How long one job may still take once the queue closes, 8 s unless told. */
  closeTimeoutSeconds?: number
  /** Begins every key in Redis; `tandem` unless told. */
  prefix?: string
}

export interface Queue {
  /**
   * Tells the workers of rows that were committed. It never throws and never takes longer than 2 s: what Redis does not
   * take now is offered again from Postgres as soon as Redis is back.
   */
  enqueue (jobs: Job[], options?: EnqueueOptions): Promise<void>
  /** Begins to work and to sweep. A process that only offers need not call it, as long as another one does. */
  start (): void
  /** Takes no more jobs, lets the running ones end, and leaves Redis. */
  close (): Promise<void>
  /** @throws when Redis does not answer */
  ping (): Promise<void>
  /** How many jobs Redis holds. @throws when Redis does not answer */
  depth (): Promise<{ waiting: number, active: number, delayed: number, failed: number }>
}
