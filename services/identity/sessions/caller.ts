import { InvalidAccessToken, type Account } from '@tandem/http-kit'
import { lockAccount } from '../accounts/queries.ts'
import type { Trx } from '../tables.ts'
import { isActiveSession } from './queries.ts'

/** Who sends a request: an account, and the session of the access token. */
export interface Caller {
  accountId: string
  sessionId: string
}

export const callerOf = ({ id, sessionId }: Pick<Account, 'id' | 'sessionId'>): Caller => ({
  accountId: id,
  sessionId
})

/**
 * Locks the account of a caller whose session lives. Every change that a caller makes with an access token begins with
 * it: the token is still accepted for a moment after a session has ended, and a person who was signed out must not
 * set a password or an address in that moment.
 * @throws InvalidAccessToken
 */
export async function lockCaller (trx: Trx, caller: Caller) {
  const account = await lockAccount(trx, { id: caller.accountId })
  // A statement of its own, so that it sees what a transaction did that held the lock.
  if (!account || account.isBanned || !await isActiveSession(trx, caller)) throw new InvalidAccessToken()
  return account
}
