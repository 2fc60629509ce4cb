import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { ContactDeclined, InvalidContactLink } from '../errors.ts'
import { endContact } from './actions.ts'
import { changeAndNotify } from './change-and-notify.ts'
import { addressDigest, tokenDigest } from './tokens.ts'

/**
 * The contact agrees, refuses, or ends it later, with a link from any of their mails. Refusing is final for this account
 * and this address.
 * @throws InvalidContactLink, ContactDeclined
 */
export async function answerAsContact (deps: Deps, token: string, accept: boolean) {
  const found = await deps.db.selectFrom('trusted_contact_links')
    .innerJoin('trusted_contacts', 'trusted_contacts.id', 'contact_id')
    .where('token_digest', '=', tokenDigest(token))
    .select(['trusted_contacts.id', 'account_id as accountId']).executeTakeFirst()
  if (!found) throw new InvalidContactLink()
  const { id, accountId } = found
  const status = accept ? 'CONFIRMED' : 'DECLINED'

  await changeAndNotify(deps, accountId, async (trx, notify) => {
    const contact = await trx.selectFrom('trusted_contacts').where('id', '=', id).select(['status', 'email'])
      .forUpdate().executeTakeFirst()
    if (!contact) throw new InvalidContactLink()
    if (contact.status === status) return
    if (contact.status === 'DECLINED') throw new ContactDeclined()
    await trx.updateTable('trusted_contacts').set({ status, decided_at: sql`now()` }).where('id', '=', id).execute()
    if (!accept) {
      await endContact(trx, accountId, contact)
      await trx.insertInto('trusted_contact_refusals')
        .values({ account_id: accountId, address_digest: addressDigest(contact.email) })
        .onConflict((conflict) => conflict.doNothing()).execute()
    }
    await notify(status)
  })
}
