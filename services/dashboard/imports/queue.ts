import { createQueue, retryAfter, type Queue } from '@tandem/queue-kit'
import type { Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { workOnNextImport } from './actions.ts'
import { listUnfinished } from './queries.ts'

interface Options {
  deps: Pick<Deps, 'db' | 'now' | 'sendEphemeral'>
  redisUrl: string
  log: Log
}

/** Reads files and undoes imports. The rows are the truth. */
export const createImportQueue = ({ deps, redisUrl, log }: Options): Queue =>
  createQueue({
    name: 'dashboard-imports',
    redisUrl,
    log,
    // It reads in a process of its own, and the pod has memory for one.
    concurrency: 1,
    // A job only says that there is work. One that is enqueued while it runs is ignored, so it looks again.
    work: async () => await workOnNextImport({ ...deps, log }) ? retryAfter(0) : undefined,
    listPending: async (page) => (await listUnfinished(deps.db, page)).map(({ id }) => id)
  })
