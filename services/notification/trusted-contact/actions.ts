import { publish } from '@tandem/bus-kit'
import { ArmedMeetings, Contact, TrustedContactEnded } from '@tandem/contracts'
import { ValidationError } from '@tandem/http-kit'
import { createMail, plainName, withdrawMails, renderMail } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'
import { ContactDeclined, ContactNeeded, ContactNotFound, EmailNotVerified } from '../errors.ts'
import type { Trx } from '../tables.ts'
import { changeAndNotify } from './change-and-notify.ts'
import { isEligible } from './eligibility.ts'
import { hasRefused, lockContactChanges, useContactChange, useContactRequest } from './limits.ts'
import { findContact } from './queries.ts'
import { createContactLink } from './tokens.ts'

interface NewContact {
  name: string
  email: string
  /** The language of the mails; by default that of the account. */
  locale?: string | undefined
}

interface Confirmation {
  /** Whether safety checks that are armed may end with the contact. */
  confirm: boolean
}

/**
 * Sets the account's trusted contact, and asks a new address whether it agrees. The owner is notified of every change,
 * because somebody else may hold their phone. Repeating a request changes nothing. An address that is not eligible is
 * not asked, and the caller does not learn it: they could find out who blocked them.
 * @throws ContactNeeded if the former contact is needed, and the caller does not confirm
 */
export async function setTrustedContact (
  deps: Deps,
  accountId: string,
  { confirm, ...fields }: NewContact & Confirmation
) {
  const { callRpc, mailer, now } = deps
  const owner = await callRpc(Contact, { accountId })
  // A mail to any address with a name that its sender chose: only for people whose own address is verified.
  if (!owner?.emailVerified) throw new EmailNotVerified()
  if (fields.email === owner.email.toLowerCase()) {
    throw new ValidationError('emailIsYourOwn', ['email'])
  }
  const ownerName = owner.name
  const contact = { ...fields, locale: fields.locale ?? owner.locale }
  const former = await findContact(deps.db, accountId)
  const isAsked = await isEligible(deps, accountId, contact.email)
  if (!confirm && former?.email !== contact.email) await checkNotNeeded(deps, accountId)

  const { mailId, stored } = await changeAndNotify(deps, accountId, async (trx, notify) => {
    await lockContactChanges(trx, accountId)
    if (await hasRefused(trx, accountId, contact.email)) throw new ContactDeclined()
    const mailId = await isStored(trx, accountId, contact) ? undefined : await replace()
    return { mailId, stored: await findContact(trx, accountId) }

    async function replace () {
      await useContactChange(trx, accountId, now())
      const isSameAddress = await updateFields(trx, accountId, contact)
      if (!isSameAddress) await useContactRequest(trx, accountId, contact.email, now())
      const mailId = isSameAddress
        ? undefined
        : await insertContact(trx, deps, { accountId, ownerName, isAsked, ...contact })
      // Last: every transaction locks the contact before the inbox.
      await notify('SET')
      return mailId
    }
  })
  await mailer.enqueue([mailId])
  return stored!
}

type StoredContact = Required<NewContact>

async function isStored (trx: Trx, accountId: string, { name, email, locale }: StoredContact) {
  const same = await trx.selectFrom('trusted_contacts').where('account_id', '=', accountId)
    .where('name', '=', name).where('email', '=', email).where('locale', '=', locale)
    .select('id').forUpdate().executeTakeFirst()
  return same !== undefined
}

/** Changes the name and the language of a contact with this address. Returns whether there is one. */
async function updateFields (trx: Trx, accountId: string, { name, email, locale }: StoredContact) {
  const updated = await trx.updateTable('trusted_contacts').set({ name, locale })
    .where('account_id', '=', accountId).where('email', '=', email).returning('id').executeTakeFirst()
  return updated !== undefined
}

interface InsertedContact extends StoredContact {
  accountId: string
  ownerName: string
  isAsked: boolean
}

/** Replaces the contact, and writes the mail that asks the new one, if they are asked. Returns the id of the mail. */
async function insertContact (trx: Trx, { publicUrl }: Deps, contact: InsertedContact) {
  const { accountId, ownerName, isAsked, name, email, locale } = contact
  await deleteContact(trx, accountId)
  const { id } = await trx.insertInto('trusted_contacts').values({ account_id: accountId, name, email, locale })
    .returning('id').executeTakeFirstOrThrow()
  if (!isAsked) return
  return await createMail(trx, {
    dedupeKey: `trusted-contact:${id}`,
    recipient: email,
    accountId,
    // The link of a contact that was replaced must not arrive last.
    collapseKey: `trusted-contact:${accountId}`,
    // Its own limit is lower, and says so instead of dropping the mail.
    rateLimited: false,
    ...renderMail({
      kind: 'contactRequest',
      locale,
      params: { name: plainName(ownerName) },
      url: await createContactLink(trx, publicUrl, id)
    })
  })
}

/**
 * Removes the contact, who gets no more mails. No limit applies: a removal is always possible, with `confirm`
 * also while fitmatch is unavailable.
 * @throws ContactNotFound, or ContactNeeded if the contact is needed and the caller does not confirm
 */
export async function removeTrustedContact (deps: Deps, accountId: string, { confirm }: Confirmation) {
  if (!confirm) await checkNotNeeded(deps, accountId)
  await changeAndNotify(deps, accountId, async (trx, notify) => {
    if (!await deleteContact(trx, accountId)) throw new ContactNotFound()
    await notify('REMOVED')
  })
}

/**
 * A meeting that is armed after this check is disarmed by the event of `endContact`.
 * @throws ContactNeeded
 */
async function checkNotNeeded ({ db, callRpc }: Deps, accountId: string) {
  if ((await findContact(db, accountId))?.status !== 'CONFIRMED') return
  if (await callRpc(ArmedMeetings, { accountId }) > 0) throw new ContactNeeded()
}

/** Deletes the contact, if they have this address. @returns whether there was one */
export async function deleteContact (trx: Trx, accountId: string, email?: string) {
  const contact = await trx.deleteFrom('trusted_contacts').where('account_id', '=', accountId)
    .$if(email !== undefined, (contacts) => contacts.where('email', '=', email!))
    .returning(['email', 'status']).executeTakeFirst()
  if (contact) await endContact(trx, accountId, contact)
  return contact !== undefined
}

/** A contact gets no more mails. If they had agreed, fitmatch disarms the meetings that count on them. */
export async function endContact (
  trx: Trx,
  accountId: string,
  { email, status }: { email: string, status: 'PENDING' | 'CONFIRMED' | 'DECLINED' }
) {
  await withdrawMails(trx, { accountId, recipient: email })
  if (status === 'CONFIRMED') await publish(trx, TrustedContactEnded, accountId, { accountId })
}
