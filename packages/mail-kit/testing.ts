import { sql, type Kysely } from 'kysely'
import type { Mailer } from './mailer.ts'
import type { MailTables } from './mails.ts'

export interface PendingMail {
  id: string
  dedupeKey: string
  recipient: string
  subject: string
  text: string
  html: string
}

/** The mails that will be sent, oldest first. */
export async function pendingMails (db: Kysely<MailTables>): Promise<PendingMail[]> {
  const { rows } = await sql<PendingMail>`
    select id, dedupe_key as "dedupeKey", recipient, subject, body_text as text, body_html as html from mails where status = 'pending' and not superseded order by id`
    .execute(db)
  return rows
}

/** A mailer that sends nothing, so created mails stay pending. `verify` returns `isReachable`. */
export function fakeMailer (isReachable = true): Mailer & { enqueued: string[], isReachable: boolean } {
  const enqueued: string[] = []
  const mailer = {
    enqueued,
    isReachable,
    async enqueue (ids: (string | undefined)[]) {
      enqueued.push(...ids.filter((id) => id !== undefined))
    },
    start () {},
    async close () {},
    async verify () {
      return mailer.isReachable
    },
    async ready () {}
  }
  return mailer
}
