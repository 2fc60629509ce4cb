import { sql, type Kysely } from 'kysely'
import type { Mailer } from './mailer.ts'
import type { MailTables } from './mails.ts'

export interface QueuedMail { id: string, cause: string, recipient: string, subject: string, text: string, html: string }

/** The mails that wait to be sent, oldest first, as their readers would see them. */
export async function queuedMails<Tables extends MailTables> (db: Kysely<Tables>): Promise<QueuedMail[]> {
  const { rows } = await sql<QueuedMail>`
    select id, cause, recipient, subject, body_text as text, body_html as html from mails where status = 'pending' order by id`.execute(db)
  return rows
}

/** A mailer that sends nothing: what was queued stays where `queuedMails` finds it. `reachable` is what `verify` answers. */
export function idleMailer (reachable = true): Mailer & { offered: string[], reachable: boolean } {
  const offered: string[] = []
  const mailer = {
    offered,
    reachable,
    async offer (ids: (string | undefined)[]) { offered.push(...ids.filter((id) => id !== undefined)) },
    start () {},
    async close () {},
    async verify () { return mailer.reachable },
    async ready () {},
    async depth () { return { waiting: offered.length, active: 0, delayed: 0, failed: 0 } }
  }
  return mailer
}
