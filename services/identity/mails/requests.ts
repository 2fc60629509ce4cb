import { createQueue } from '@tandem/queue-kit'
import type { Mailer } from '@tandem/mail-kit'
import type { Log } from '@tandem/process-kit'
import type { Db } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { insertMailRequest, processMailRequest, type MailRequest } from './actions.ts'
import { listPendingRequests } from './queries.ts'

/** Requests for mails by callers who are not signed in, to addresses that may or may not have an account. */
export interface MailRequests {
  /**
   * Takes equally long for both, because the account is looked up afterwards. Once it returns, the request is durable.
   */
  add(request: MailRequest): Promise<void>
  start(): void
  close(): Promise<void>
}

interface Options {
  db: Db
  secrets: Secrets
  mailer: Mailer
  redisUrl: string
  publicUrl: string
  log: Log
}

export function createMailRequests ({ db, secrets, mailer, redisUrl, publicUrl, log }: Options): MailRequests {
  const queue = createQueue({
    name: 'identity-mail-requests',
    redisUrl,
    log,
    work: async (id) => await mailer.enqueue([await processMailRequest(db, { secrets, publicUrl }, id)]),
    listPending: async (page) => await listPendingRequests(db, page)
  })

  return {
    async add (request) {
      const id = await insertMailRequest(db, request)
      void queue.enqueue([id])
    },
    start: queue.start,
    close: queue.close
  }
}
