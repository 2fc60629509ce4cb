import { handleRpc } from '@tandem/bus-kit'
import { Accounts, AccountsByToken, AddressOwner, AddressVerified, Contact, Membership } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findAddressOwner, findContact, findMembership, listAccounts, listAccountsByToken } from './queries.ts'

export const handleContact = ({ db }: Deps) =>
  handleRpc(Contact, async ({ accountId }) => await findContact(db, accountId) ?? null)

export const handleAccountsByToken = ({ db }: Deps) =>
  handleRpc(AccountsByToken, async ({ accountTokens }) => await listAccountsByToken(db, accountTokens))

export const handleAddressOwner = ({ db }: Deps) =>
  handleRpc(AddressOwner, async ({ email }) => await findAddressOwner(db, email) ?? null)

export const handleAccounts = ({ db }: Deps) =>
  handleRpc(Accounts, async ({ accountIds }) => await listAccounts(db, accountIds))

export const handleMembership = ({ db }: Deps) =>
  handleRpc(Membership, async ({ accountId }) => {
    const membership = await findMembership(db, accountId)
    return membership ? { ...membership, since: membership.since.toISOString() } : null
  })

export const handleAddressVerified = ({ db }: Deps) =>
  handleRpc(AddressVerified, async ({ accountId }) => (await findContact(db, accountId))?.emailVerified ?? false)
