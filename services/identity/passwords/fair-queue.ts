interface Job {
  start(): Promise<void>
  reject(): void
}

interface Options {
  /** The number of jobs that run at once. */
  concurrency: number
  /** The number of jobs that can wait, of all owners together. */
  maxWaiting: number
  /** The error of a job that is rejected because the queue is full. */
  createError: () => Error
}

/**
 * Runs jobs round-robin by owner, so that the jobs of one owner delay a job of another by one turn at most. When the
 * queue is full, the newest job of the owner with the most waiting jobs is rejected. A new job is rejected only if its
 * owner has as many as anybody else.
 */
export function createFairQueue ({ concurrency, maxWaiting, createError }: Options) {
  // A Map keeps its keys in insertion order: the first owner is the next one.
  const waitingOf = new Map<string, Job[]>()
  let waiting = 0
  let running = 0

  function startNext () {
    const [turn] = waitingOf
    if (!turn || running === concurrency) return
    const [owner, [job, ...rest]] = turn
    waitingOf.delete(owner)
    if (rest.length > 0) waitingOf.set(owner, rest)
    waiting--
    running++
    void job?.start().finally(() => {
      running--
      startNext()
    })
  }

  /**
   * Whether there is room for another job of `owner`. If the queue is full, it may reject a job of a longer queue
   * first.
   */
  function makeRoom (owner: string) {
    if (waiting < maxWaiting) return true
    const ownJobs = waitingOf.get(owner)?.length ?? 0
    const longest = [...waitingOf.values()].reduce((most, jobs) => (jobs.length > most.length ? jobs : most))
    if (longest.length < ownJobs + 2) return false
    longest.pop()?.reject()
    waiting--
    return true
  }

  return async <Result>(owner: string, work: () => Promise<Result>) =>
    await new Promise<Result>((resolve, reject) => {
      if (!makeRoom(owner)) return reject(createError())
      const job = { start: async () => await work().then(resolve, reject), reject: () => reject(createError()) }
      waitingOf.set(owner, [...waitingOf.get(owner) ?? [], job])
      waiting++
      startNext()
    })
}
