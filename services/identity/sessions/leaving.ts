import { sql } from 'kysely'
import { setHidden } from '../hidden.ts'
import { AccountDeletionPending } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { SignInMethod, Trx } from '../tables.ts'
import { createRestoreToken, digestOfPassword } from './restore-tokens.ts'

/** Why an account that signs in is hidden or cannot sign in. */
export interface Departure {
  pausedAt: Date | null
  erasureId: string | null
  eraseAt: Date | null
  passwordHash: string | null
}

/** The departure of an account, as a query. */
export const departureOf = (accountId: string) =>
  sql<Departure>`
    select paused_at as "pausedAt", erasures.id as "erasureId", erase_at as "eraseAt", password_hash as "passwordHash"
    from accounts
    left join erasures on account_id = accounts.id and status in ('SCHEDULED', 'HELD', 'RUNNING')
    where accounts.id = ${accountId}`

/**
 * Resumes a paused account, and rejects the sign-in of one that is leaving: signing in alone never cancels a deletion.
 * @throws AccountDeletionPending with a token that cancels it
 */
export async function resumeOrReject (
  trx: Trx,
  secrets: Secrets,
  { accountId, method, departure: { pausedAt, erasureId, eraseAt, passwordHash } }: {
    accountId: string,
    method: SignInMethod,
    departure: Departure
  }
) {
  if (erasureId && eraseAt) {
    throw new AccountDeletionPending({
      eraseAt: eraseAt.toISOString(),
      restoreToken: createRestoreToken(secrets, {
        accountId,
        erasureId,
        method,
        passwordDigest: digestOfPassword(secrets, passwordHash)
      })
    })
  }
  if (pausedAt) await setHidden(trx, accountId, { paused_at: null })
}
