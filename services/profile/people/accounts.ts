import type Type from 'typebox'
import type { Ask } from '@tandem/bus-kit'
import { Accounts } from '@tandem/contracts'
import { createLookup } from '@tandem/service-kit'

type Account = Type.Static<typeof Accounts.answer>[number]

export type FindAccounts = (accountIds: string[]) => Promise<Account[]>

/** Gives what asks identity for accounts. */
export const createAccountLookup = (ask: Ask): FindAccounts => createLookup(async (accountIds) => {
  const accounts = await ask(Accounts, { accountIds })
  return new Map(accounts.map((account) => [account.accountId, account]))
})
