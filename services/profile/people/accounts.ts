import type Type from 'typebox'
import type { CallRpc } from '@tandem/bus-kit'
import { Accounts } from '@tandem/contracts'
import { createLookup } from '@tandem/process-kit'

type Account = Type.Static<typeof Accounts.response>[number]

export type FindAccounts = (accountIds: string[]) => Promise<Account[]>

/** Creates a lookup of accounts in identity. Concurrent lookups share one RPC. */
export const createAccountLookup = (callRpc: CallRpc): FindAccounts =>
  createLookup(async (accountIds) => {
    const accounts = await callRpc(Accounts, { accountIds })
    return new Map(accounts.map((account) => [account.accountId, account]))
  })
