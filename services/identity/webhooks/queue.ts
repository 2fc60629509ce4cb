import { createQueue, type Queue } from '@tandem/queue-kit'
import type { Log } from '@tandem/process-kit'
import { handleNotification, listPendingNotifications } from './actions.ts'

interface Options {
  deps: Parameters<typeof handleNotification>[0]
  redisUrl: string
  log: Log
}

/** The notifications of stores. The rows are the truth. */
export const createNotificationQueue = ({ deps, redisUrl, log }: Options): Queue =>
  createQueue({
    name: 'identity-store-notifications',
    redisUrl,
    log,
    // Handling can wait, receiving cannot.
    concurrency: 2,
    work: async (id) => await handleNotification(deps, id),
    listPending: async (page) => await listPendingNotifications(deps.db, page)
  })
