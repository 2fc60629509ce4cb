interface Job { start (): Promise<void>, refuse (): void }

interface Options {
  /** How many jobs run at once. */
  concurrency: number
  /** How many jobs wait, of all owners together. */
  maxWaiting: number
  /** What a job is refused with for which there is no room. */
  createRefusal: () => Error
}

/**
 * Runs jobs in turns of their owners, so that the jobs of one delay each job of another by one turn at most. When the queue is full,
 * the owner with most waiting jobs loses the newest of them: only an owner who waits for as much as everybody else is refused.
 */
export function createFairQueue ({ concurrency, maxWaiting, createRefusal }: Options) {
  // A Map keeps the order of its keys: the first owner is the next.
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

  /** Whether there is room for one more job of `owner`, after one of another has been refused if need be. */
  function makeRoom (owner: string) {
    if (waiting < maxWaiting) return true
    const ownJobs = waitingOf.get(owner)?.length ?? 0
    const longest = [...waitingOf.values()].reduce((most, jobs) => (jobs.length > most.length ? jobs : most))
    if (longest.length < ownJobs + 2) return false
    longest.pop()?.refuse()
    waiting--
    return true
  }

  return async <Result> (owner: string, work: () => Promise<Result>) => await new Promise<Result>((resolve, reject) => {
    if (!makeRoom(owner)) return reject(createRefusal())
    const job = { start: async () => await work().then(resolve, reject), refuse: () => reject(createRefusal()) }
    waitingOf.set(owner, [...waitingOf.get(owner) ?? [], job])
    waiting++
    startNext()
  })
}
