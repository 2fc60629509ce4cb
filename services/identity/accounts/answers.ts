import { answer } from '@tandem/bus-kit'
import { Accounts, AddressVerified, Contact, Membership } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findContact, findMembership, listAccounts } from './queries.ts'

export const answerContact = ({ db }: Deps) => answer(Contact, async ({ accountId }) => await findContact(db, accountId) ?? null)

export const answerAccounts = ({ db }: Deps) => answer(Accounts, async ({ accountIds }) => await listAccounts(db, accountIds))

export const answerMembership = ({ db }: Deps) => answer(Membership, async ({ accountId }) => {
  const membership = await findMembership(db, accountId)
  return membership ? { ...membership, since: membership.since.toISOString() } : null
})

export const answerAddressVerified = ({ db }: Deps) => answer(AddressVerified, async ({ accountId }) => (await findContact(db, accountId))?.emailVerified ?? false)
