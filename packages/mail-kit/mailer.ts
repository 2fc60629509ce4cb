import type { SendMailOptions } from 'nodemailer'
import { readBrand } from '@tandem/brand-kit'
import { runPeriodically, untilPersisted, withTimeout } from '@tandem/process-kit'
import { createQueue, retryAfter, type Outcome, type QueueOptions, type QueueTestOptions } from '@tandem/queue-kit'
import type { Kysely, Transaction } from 'kysely'
import { attempts as attemptsTotal, initializeAttempts, mailSources } from './metrics.ts'
import {
  claimMail,
  deleteOldMails,
  dropMail,
  findRetryDelayMs,
  LEASE_SECONDS,
  listPending,
  markFailed,
  markPending,
  markSent,
  type FinishedMail,
  type MailTables
} from './mails.ts'

const SEND_TIMEOUT_MS = 30_000
const PERSIST_MARGIN_MS = 4_000
const HOUR_MS = 60 * 60 * 1_000

/** What else changes with a mail of one kind, in the transaction that marks it: neither is ever lost. */
export interface MailOutcome<Tables> {
  /** A server took the mail. It can be called twice for a mail that was sent twice. */
  onSent: (trx: Transaction<Tables>, mail: FinishedMail) => Promise<void>
  /** A server rejected the mail for good, or it was dropped as superseded, withdrawn or expired. */
  onFailed: (trx: Transaction<Tables>, mail: FinishedMail) => Promise<void>
}

/** Sends a mail in place of an SMTP server. @returns the status of its response @throws if there is none */
export type MailProvider = (id: string, mail: {
  from: string,
  to: string,
  subject: string,
  text: string,
  html: string,
  messageId: string
}) => Promise<{ status: number }>

export interface MailerOptions<Tables extends MailTables = MailTables> extends QueueTestOptions {
  db: Kysely<Tables>
  /** The service's name. Mailers of one service share a queue; mailers of different services never do. */
  service: string
  /**
   * `smtp://user:password@host:port`, or `smtps:`; Nodemailer options may follow as a query, such as `?ignoreTLS=true`.
   */
  smtpUrl: string
  redisUrl: string
  /** By default that of the brand, `Tandem <hello@tandem.example>`; its domain is also that of every Message-ID. */
  from?: string | undefined
  log: QueueOptions['log']
  /** How many mails are sent in parallel, each over its own connection; default 5. */
  concurrency?: number
  /** Takes every mail in place of the SMTP server. 400 and 422 fail a mail for good. */
  provider?: MailProvider | undefined
  /** By the kind of a mail: what stands before the first colon of its dedupe key. */
  outcomes?: Record<string, MailOutcome<Tables>>
}

export interface Mailer {
  /**
   * Enqueues created mails; call it after the commit of their transaction. It never throws, and ignores the undefined
   * of a mail that was not created.
   */
  enqueue(ids: (string | undefined)[]): Promise<void>
  start(): void
  close(): Promise<void>
  /**
   * Whether the SMTP server is reachable and accepts our login. It resolves within 1 s; concurrent calls share one
   * connection.
   */
  verify(): Promise<boolean>
  /** @throws if Redis does not respond */
  ready(): Promise<void>
}

/**
 * Sends the mails that `createMail` wrote, each once. The exception: the process dies, or Postgres is unavailable for
 * more than 15 s, between the server's acceptance and the update of the row that follows at once. Then the mail is sent
 * again with the same Message-ID, so that the receiver can drop the duplicate. A permanent rejection (5xx to sender,
 * recipient or content) fails the mail. Any other error is retried until the mail expires, first after 1 s and then with
 * a backoff of up to a minute.
 */
export function createMailer<Tables extends MailTables> (options: MailerOptions<Tables>): Mailer {
  const { db, service, smtpUrl, redisUrl, log, concurrency = 5, outcomes = {}, provider, ...queueOptions } = options
  const { fromAddress, logo } = readBrand().brand
  const from = options.from ?? fromAddress
  const domain = /@([^@>\s]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  let opening: ReturnType<typeof openTransports> | undefined
  const open = async () => await (opening ??= openTransports(smtpUrl, concurrency))
  let verifying: Promise<boolean> | undefined
  let stopDeleting: (() => Promise<void>) | undefined
  // The gauges read the table of mails only; the compiler cannot tell for a generic database.
  const source = { service, db: db as unknown as Kysely<MailTables> }
  mailSources.add(source)
  initializeAttempts(service)

  const queue = createQueue({
    ...queueOptions,
    name: `${service}-mails`,
    redisUrl,
    log,
    concurrency,
    work: send,
    listPending: (page) => listPending(db, page)
  })

  async function send (id: string): Promise<Outcome> {
    const leaseEndMs = Date.now() + LEASE_SECONDS * 1_000
    const dropped = await finish('onFailed', async (trx) => await dropMail(trx, id))
    if (dropped) {
      log.warn({ mailId: id, reason: dropped.reason }, 'a mail was dropped')
      attemptsTotal.inc({ service, outcome: 'dropped' })
      return
    }
    const mail = await claimMail(db, id)
    if (!mail) {
      const delayMs = await findRetryDelayMs(db, id)
      return delayMs === undefined ? undefined : retryAfter(delayMs)
    }

    const { recipient, subject, text, html } = mail
    const content = { from, subject, text, html, messageId: `<${id}@${domain}>` }
    try {
      if (provider) await sendByProvider(provider, id, { ...content, to: recipient })
      else await sendBySmtp({ ...content, to: { name: '', address: recipient } })
    } catch (error) {
      return await handleSendError(id, mail, error)
    }
    // It would be sent again if its row were not updated before the lease ends.
    await untilPersisted(
      async () => await finish('onSent', async (trx) => await markSent(trx, id)),
      leaseEndMs - PERSIST_MARGIN_MS
    )
    attemptsTotal.inc({ service, outcome: 'sent' })
    log.info({ mailId: id, attempts: mail.attempts }, 'sent a mail')
  }

  async function sendBySmtp (mail: SendMailOptions) {
    const { transport } = await open()
    await transport.sendMail({
      ...mail,
      ...logo && { attachments: [{ filename: 'logo.png', content: logo.png, cid: 'logo' }] },
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      signal: AbortSignal.timeout(SEND_TIMEOUT_MS)
    })
  }

  /** Marks a mail, and changes what follows from it, in one transaction. */
  async function finish<Mail extends FinishedMail> (
    outcome: keyof MailOutcome<Tables>,
    mark: (trx: Transaction<Tables>) => Promise<Mail | undefined>
  ) {
    return await db.transaction().execute(async (trx) => {
      const mail = await mark(trx)
      if (mail) await outcomes[mail.kind]?.[outcome](trx, mail)
      return mail
    })
  }

  async function handleSendError (
    id: string,
    { dedupeKey, attempts }: { dedupeKey: string, attempts: number },
    error: unknown
  ): Promise<Outcome> {
    const { message, code, permanent, command, responseCode } = error as Error & {
      code?: string,
      permanent?: boolean,
      command?: string,
      responseCode?: number
    }
    // A 5xx at the greeting or the login is about our connection, not about the mail.
    const isRejected = (code === 'EENVELOPE' || code === 'EMESSAGE') && permanent !== false
    // Without the error message, which may contain the recipient.
    const details = { mailId: id, dedupeKey, attempts, code, command, responseCode }
    if (isRejected) {
      log.warn(details, 'a mail failed permanently')
      attemptsTotal.inc({ service, outcome: 'failed' })
      await finish('onFailed', async (trx) => await markFailed(trx, id, { attempts, error: message }))
      return
    }
    log.warn(details, 'sending a mail failed; it will be retried')
    attemptsTotal.inc({ service, outcome: 'retried' })
    await markPending(db, id, { attempts, error: message })
    return retryAfter(Math.min(60_000, 500 * 2 ** attempts) * (0.75 + Math.random() / 2))
  }

  return {
    enqueue: (ids) => queue.enqueue(ids.filter((id) => id !== undefined)),
    ready: queue.ping,

    start () {
      stopDeleting = runPeriodically(async () => await deleteOldMails(source.db), { intervalMs: HOUR_MS, log })
      queue.start()
    },

    async close () {
      await stopDeleting?.()
      mailSources.delete(source)
      await queue.close()
      const opened = await opening
      opened?.transport.close()
      opened?.probe.close()
    },

    verify () {
      // There is no connection to look at: what it does not take is in the health check of the backlog.
      if (provider) return Promise.resolve(true)
      const verified = async () => await (await open()).probe.verify()
      verifying ??= withTimeout(950, verified()).then(() => true, () => false).finally(() => {
        verifying = undefined
      })
      return verifying
    }
  }
}

async function sendByProvider (provider: MailProvider, ...mail: Parameters<MailProvider>) {
  const { status } = await provider(...mail)
  if (status >= 200 && status < 300) return
  const isRejected = status === 400 || status === 422
  throw Object.assign(new Error(`the provider responded with ${status}`), {
    responseCode: status,
    ...isRejected && { code: 'EMESSAGE' }
  })
}

async function openTransports (smtpUrl: string, maxConnections: number) {
  // Loaded with the first mail: it takes 0.06 s of CPU and 30 MB.
  const { createTransport } = await import('nodemailer')
  const options = {
    url: smtpUrl,
    connectionTimeout: 5_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true
  }
  return {
    // No retries by the pool, because they would not update the row.
    transport: createTransport({ ...options, pool: true, maxConnections, maxRequeues: 0, idleTimeout: 60_000 }),
    probe: createTransport({ ...options, connectionTimeout: 1_000, greetingTimeout: 1_000 })
  }
}
