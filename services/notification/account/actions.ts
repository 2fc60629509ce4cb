import { Contact } from '@tandem/contracts'
import { createMail, type MailContent } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'
import type { MailTemplates } from '../mails/english.ts'
import { templatesFor } from '../mails/templates.ts'

interface AccountMail {
  eventId: string
  accountId: string
  write: (templates: MailTemplates) => MailContent
}

/**
 * Queues a mail about a change to an account, once for each event. It is exempt from the mail limit, so that an
 * attacker cannot suppress it by requesting other mails first.
 */
export async function queueAccountMail ({ db, callRpc, mailer }: Deps, { eventId, accountId, write }: AccountMail) {
  const contact = await callRpc(Contact, { accountId })
  if (!contact) return
  const content = write(templatesFor(contact.locale))
  const mail = await db.transaction().execute(async (trx) =>
    await createMail(trx, {
      dedupeKey: `account:${eventId}`,
      recipient: contact.email,
      accountId,
      rateLimited: false,
      ...content
    })
  )
  await mailer.enqueue([mail])
}
