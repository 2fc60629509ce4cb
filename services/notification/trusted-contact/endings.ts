import { Contact } from '@tandem/contracts'
import { settleEach } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { deleteContact } from './actions.ts'
import { changeAndNotify } from './change-and-notify.ts'
import { isEligible } from './eligibility.ts'
import { findContact } from './queries.ts'

/**
 * Ends the contact of a person if they are no longer eligible. The person is notified without the reason: it would reveal
 * a block, a ban or a deletion.
 */
export async function endIneligibleContact (deps: Deps, accountId: string) {
  const contact = await findContact(deps.db, accountId)
  if (!contact || await isEligible(deps, accountId, contact.email)) return
  await changeAndNotify(deps, accountId, async (trx, notify) => {
    // Another one may have been chosen meanwhile.
    if (await deleteContact(trx, accountId, contact.email)) await notify('ENDED')
  })
}

/** Ends a person as the contact of others, where they are no longer eligible. */
export async function endAsContact (deps: Deps, accountId: string) {
  const person = await deps.callRpc(Contact, { accountId })
  if (!person?.emailVerified) return
  const owners = await deps.db.selectFrom('trusted_contacts').where('email', '=', person.email.toLowerCase())
    .select('account_id as accountId').execute()
  await settleEach(owners, async (owner) => await endIneligibleContact(deps, owner.accountId))
}
