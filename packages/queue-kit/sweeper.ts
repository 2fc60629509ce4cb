import type { Job, PendingQuery } from './types.ts'

const PAGE_SIZE = 500
const PAGES_PER_SWEEP = 4

interface SweeperOptions {
  listPending(query: PendingQuery): Promise<Job[]>
  /** The age from which a sweep enqueues a pending row again. A full sweep enqueues all. */
  minAgeSeconds: number
  /** Whether Redis has lost all jobs since the last call. */
  wasWiped(): Promise<boolean>
  enqueueAgain(jobs: Job[]): Promise<void>
  isStopped(): boolean
  onFailure(error: unknown): void
}

/**
 * Finds pending rows whose jobs Redis may have lost. A sweep takes a few pages of old rows and continues where the last
 * one stopped. A full sweep takes all rows: the first one, each one after a wipe, a failure or a request.
 */
export function createSweeper (options: SweeperOptions) {
  const { listPending, minAgeSeconds, wasWiped, enqueueAgain, isStopped, onFailure } = options
  let isFullSweepDue = true
  let cursor: string | undefined
  let running: Promise<void> | undefined

  async function sweepPages () {
    const wasRequested = isFullSweepDue
    // Before the first await: a request that comes during this sweep is for the next one.
    isFullSweepDue = false
    try {
      const isFull = await wasWiped() || wasRequested
      if (isFull) cursor = undefined
      let pages = 0
      do {
        const olderThanSeconds = isFull ? 0 : minAgeSeconds
        const jobs = await listPending({ olderThanSeconds, limit: PAGE_SIZE, after: cursor })
        await enqueueAgain(jobs)
        const last = jobs.length < PAGE_SIZE ? undefined : jobs.at(-1)
        cursor = typeof last === 'string' ? last : last?.id
        pages++
      } while (cursor && !isStopped() && (isFull || pages < PAGES_PER_SWEEP))
    } catch (error) {
      isFullSweepDue = true
      onFailure(error)
    }
  }

  return {
    /** Makes the next sweep a full one. @returns false if it was going to be one already */
    requestFullSweep () {
      const isNew = !isFullSweepDue
      isFullSweepDue = true
      return isNew
    },
    /** Sweeps, unless a sweep is running, and waits for its end. It never throws. */
    async sweep () {
      running ??= sweepPages().finally(() => {
        running = undefined
      })
      await running
    },
    async waitUntilIdle () {
      await running
    }
  }
}
