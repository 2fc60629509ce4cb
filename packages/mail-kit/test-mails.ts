import { randomUUIDv7 } from 'node:crypto'
import type { Kysely } from 'kysely'
import { createMail, type Mail, type MailTables } from './index.ts'

// Shared by the tests of this kit.

export const content = { subject: 'Your code', text: 'Your code:\n\n    482913\n', html: '<p>482913</p>' }

export async function givenMail (db: Kysely<MailTables>, mail: Partial<Mail> = {}) {
  return await db.transaction().execute((trx) =>
    createMail(trx, {
      dedupeKey: `test:${randomUUIDv7()}`,
      recipient: `${randomUUIDv7()}@example.com`,
      ...content,
      ...mail
    })
  )
}

export const statuses = async (db: Kysely<MailTables>) =>
  (await db.selectFrom('mails').select('status').orderBy('id').execute()).map((row) => row.status)
