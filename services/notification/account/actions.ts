import { Contact } from '@tandem/contracts'
import { createMail, type MailContent } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'
import type { Letters } from '../mails/english.ts'
import { lettersIn } from '../mails/letters.ts'

interface Notice { eventId: string, accountId: string, write: (letters: Letters) => MailContent }

/** Mails a person what happened to his account, once for an event. Nobody can hold these back by asking for other mails first. */
export async function mailNotice ({ db, callRpc, mailer }: Deps, { eventId, accountId, write }: Notice) {
  const contact = await callRpc(Contact, { accountId })
  if (!contact) return
  const letter = write(lettersIn(contact.locale))
  const mail = await db.transaction().execute(async (trx) =>
    await createMail(trx, { dedupeKey: `account:${eventId}`, recipient: contact.email, rateLimited: false, ...letter }))
  await mailer.enqueue([mail])
}
