import { Contact } from '@tandem/contracts'
import { queueMail, type Letter } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'
import type { Letters } from '../mails/english.ts'
import { lettersIn } from '../mails/letters.ts'

interface Notice { eventId: string, accountId: string, write: (letters: Letters) => Letter }

/** Mails a person what happened to his account, once for an event. Nobody can hold these back by asking for other mails first. */
export async function mailNotice ({ db, callRpc, mailer }: Deps, { eventId, accountId, write }: Notice) {
  const contact = await callRpc(Contact, { accountId })
  if (!contact) return
  const letter = write(lettersIn(contact.locale))
  const mail = await db.transaction().execute(async (trx) =>
    await queueMail(trx, { cause: `account:${eventId}`, recipient: contact.email, capped: false, ...letter }))
  await mailer.offer([mail])
}
