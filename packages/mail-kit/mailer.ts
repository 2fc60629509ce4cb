import { setTimeout as sleep } from 'node:timers/promises'
import { createQueue, retryAfter, type Log, type Outcome } from '@tandem/queue-kit'
import type { Kysely } from 'kysely'
import { createTransport } from 'nodemailer'
import { claimMail, deleteOldMails, findRetryDelayMs, LEASE_SECONDS, listPending, markFailed, markPending, markSent, type MailTables } from './mails.ts'

const SEND_WITHIN = 30_000
const GIVE_UP_AFTER_HOURS = 24
const HOUR = 60 * 60 * 1_000

export interface MailerOptions {
  db: Kysely<MailTables>
  /** The service's name: mailers of one service share their work, of different services never. */
  service: string
  /** `smtp://user:password@host:port`, or `smtps:`; options of Nodemailer may follow as a query, such as `?ignoreTLS=true`. */
  smtpUrl: string
  redisUrl: string
  /** `Tandem <hello@tandem.example>`; its domain also ends every Message-ID. */
  from: string
  log: Log
  /** Mails at once, each over its own connection; 5 unless told. */
  concurrency?: number
  /** As queue-kit's, for tests. */
  prefix?: string
  sweepIntervalSeconds?: number
  sweepMinAgeSeconds?: number
}

export interface Mailer {
  /** Has queued mails sent, after their transaction's commit. Never throws, and knows what to do with the undefined of a mail that was not queued. */
  enqueue (ids: (string | undefined)[]): Promise<void>
  start (): void
  close (): Promise<void>
  /** Whether the SMTP server can be reached and takes our login. The answer comes within 1 s and may be as old. */
  verify (): Promise<boolean>
  /** @throws when Redis does not answer */
  ready (): Promise<void>
  depth: ReturnType<typeof createQueue>['depth']
}

/**
 * Sends what `createMail` wrote. A mail leaves once. The exception: when the process dies, or Postgres is away for more than 15 s,
 * between the server's acceptance and the row's update, which is the next thing done; then the mail goes out again under the
 * same Message-ID, by which a receiver may know it. What the server refuses for good (5xx to sender, recipient or content)
 * is failed; all else is tried again, after 1 s at first and up to every minute, for 24 hours.
 */
export function createMailer (options: MailerOptions): Mailer {
  const { db, service, smtpUrl, redisUrl, from, log, concurrency = 5, ...queueOptions } = options
  const domain = /@([^@>\s]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  const timeoutMs = { connectionTimeout: 5_000, greetingTimeout: 10_000, socketTimeout: 20_000, disableFileAccess: true, disableUrlAccess: true }
  // The pool's own repetition would know nothing of the row.
  const transport = createTransport({ url: smtpUrl, pool: true, maxConnections: concurrency, maxRequeues: 0, idleTimeout: 60_000, ...timeoutMs })
  const probe = createTransport({ url: smtpUrl, ...timeoutMs, connectionTimeout: 1_000, greetingTimeout: 1_000 })
  let verified: { at: number, answer: Promise<boolean> } | undefined
  let clearing: NodeJS.Timeout | undefined

  const queue = createQueue({ ...queueOptions, name: `${service}-mails`, redisUrl, log, concurrency, work: send, listPending: (wanted) => listPending(db, wanted) })

  async function send (id: string): Promise<Outcome> {
    const leaseEnd = Date.now() + LEASE_SECONDS * 1_000
    const mail = await claimMail(db, id)
    if (!mail) {
      const wait = await findRetryDelayMs(db, id)
      return wait === undefined ? undefined : retryAfter(wait)
    }

    try {
      await transport.sendMail({
        from,
        to: { name: '', address: mail.recipient },
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        signal: AbortSignal.timeout(SEND_WITHIN)
      })
    } catch (error) {
      return await afterRefusal(id, mail, error)
    }
    await persist(() => markSent(db, id), leaseEnd)
  }

  async function afterRefusal (id: string, { dedupeKey, attempts, ageHours }: { dedupeKey: string, attempts: number, ageHours: number }, error: unknown): Promise<Outcome> {
    const { message, code, permanent, command, responseCode } = error as Error & { code?: string, permanent?: boolean, command?: string, responseCode?: number }
    // A 5xx at the greeting or the login is about us, not about the mail.
    const refused = (code === 'EENVELOPE' || code === 'EMESSAGE') && permanent !== false
    // Not the message: it may name the recipient.
    const details = { mailId: id, dedupeKey, attempts, code, command, responseCode }
    if (refused || ageHours >= GIVE_UP_AFTER_HOURS) {
      log.warn(details, 'a mail failed for good')
      await markFailed(db, id, message)
      return
    }
    log.warn(details, 'a mail was not sent and will be tried again')
    await markPending(db, id, message)
    return retryAfter(Math.min(60_000, 500 * 2 ** attempts) * (0.75 + Math.random() / 2))
  }

  return {
    enqueue: (ids) => queue.enqueue(ids.filter((id) => id !== undefined)),
    ready: queue.ping,
    depth: queue.depth,

    start () {
      const clear = () => {
        deleteOldMails(db).catch((error: unknown) => log.warn({ err: error }, 'old mails were not cleared'))
      }
      clear()
      clearing = setInterval(clear, HOUR)
      queue.start()
    },

    async close () {
      clearInterval(clearing)
      await queue.close()
      transport.close()
      probe.close()
    },

    verify () {
      if (!verified || Date.now() - verified.at > 1_000) {
        const answer = Promise.race([probe.verify().then(() => true, () => false), sleep(950, false, { ref: false })])
        verified = { at: Date.now(), answer }
      }
      return verified.answer
    }
  }
}

// An accepted mail whose row cannot be marked would be sent again, so Postgres gets until the lease ends to come back.
async function persist (write: () => Promise<void>, until: number) {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (Date.now() > until - 4_000) throw error
      await sleep(250)
    }
  }
}
