import { createQueue } from '@tandem/queue-kit'
import type { Mailer } from '@tandem/mail-kit'
import type { Log } from '@tandem/service-kit'
import type { Db } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { addRequest, processMailRequest, type MailRequest } from './actions.ts'
import { listRequests } from './queries.ts'

/** Mails asked for by people who are not signed in, to addresses that may or may not have an account. */
export interface MailRequests {
  /** Takes as long for either, because what there is to do is found out afterwards. Once it returns, the request is not lost. */
  add (request: MailRequest): Promise<void>
  start (): void
  close (): Promise<void>
}

interface Options { db: Db, secrets: Secrets, mailer: Mailer, redisUrl: string, publicUrl: string, log: Log }

export function createMailRequests ({ db, secrets, mailer, redisUrl, publicUrl, log }: Options): MailRequests {
  const queue = createQueue({
    name: 'identity-mail-requests',
    redisUrl,
    log,
    work: async (id) => await mailer.enqueue([await processMailRequest(db, { secrets, publicUrl }, id)]),
    listPending: async (wanted) => await listRequests(db, wanted)
  })

  return {
    async add (request) {
      const id = await addRequest(db, request)
      void queue.enqueue([id])
    },
    start: queue.start,
    close: queue.close
  }
}
