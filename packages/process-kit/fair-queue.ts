interface Job {
  start(): Promise<void>
  reject(): void
}

interface FairQueueOptions {
  /** The number of jobs that run at once. */
  concurrency: number
  /** The number of jobs that can wait, of all owners together. */
  maxWaiting: number
  /** The number of jobs of one owner that run at once, by default all. */
  concurrencyPerOwner?: number
  /** The number of jobs of one owner that can wait, by default all. */
  maxWaitingPerOwner?: number
  /** The error of a job that is rejected because the queue is full. */
  createError: () => Error
}

/**
 * Runs jobs round-robin by owner, so that the jobs of one owner delay a job of another by one turn at most. When the
 * queue is full, the newest job of the owner with the most waiting jobs is rejected. A new job is rejected only if its
 * owner has as many as anybody else.
 */
export function createFairQueue ({
  concurrency,
  maxWaiting,
  concurrencyPerOwner = concurrency,
  maxWaitingPerOwner = maxWaiting,
  createError
}: FairQueueOptions) {
  // A Map keeps its keys in insertion order: the first owner whose turn can start is the next one.
  const waitingOf = new Map<string, Job[]>()
  const runningOf = new Map<string, number>()
  let waiting = 0
  let running = 0

  function startNext () {
    if (running === concurrency) return
    const turn = waitingOf.entries().find(([owner]) => (runningOf.get(owner) ?? 0) < concurrencyPerOwner)
    if (!turn) return
    const [owner, [job, ...rest]] = turn
    waitingOf.delete(owner)
    if (rest.length > 0) waitingOf.set(owner, rest)
    waiting--
    countRunning(owner, 1)
    void job?.start().finally(() => {
      countRunning(owner, -1)
      startNext()
    })
  }

  function countRunning (owner: string, change: 1 | -1) {
    running += change
    const ofOwner = (runningOf.get(owner) ?? 0) + change
    if (ofOwner > 0) runningOf.set(owner, ofOwner)
    else runningOf.delete(owner)
  }

  /**
   * Whether there is room for another job of `owner`. If the queue is full, it may reject a job of a longer queue
   * first.
   */
  function makeRoom (owner: string) {
    const ownJobs = waitingOf.get(owner)?.length ?? 0
    if (ownJobs >= maxWaitingPerOwner) return false
    if (waiting < maxWaiting) return true
    const longest = [...waitingOf.values()].reduce((most, jobs) => (jobs.length > most.length ? jobs : most))
    if (longest.length < ownJobs + 2) return false
    longest.pop()?.reject()
    waiting--
    return true
  }

  /** Removes a job that has not started. Returns whether there was one. */
  function removeWaiting (owner: string, job: Job) {
    const jobs = waitingOf.get(owner) ?? []
    const others = jobs.filter((each) => each !== job)
    if (others.length === jobs.length) return false
    if (others.length > 0) waitingOf.set(owner, others)
    else waitingOf.delete(owner)
    waiting--
    return true
  }

  /** @param signal removes the job from the queue, unless it has started; the result is then the signal's reason */
  return async <Result>(owner: string, work: () => Promise<Result>, signal?: AbortSignal) =>
    await new Promise<Result>((resolve, reject) => {
      signal?.throwIfAborted()
      if (!makeRoom(owner)) return reject(createError())
      const job = { start: async () => await work().then(resolve, reject), reject: () => reject(createError()) }
      waitingOf.set(owner, [...waitingOf.get(owner) ?? [], job])
      waiting++
      signal?.addEventListener('abort', () => {
        if (removeWaiting(owner, job)) reject(signal.reason as Error)
      }, { once: true })
      startNext()
    })
}
