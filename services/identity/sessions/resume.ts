import { setHidden } from '../hidden.ts'
import { AccountDeletionPending } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { SignInMethod, Trx } from '../tables.ts'
import { createRestoreToken, digestOfPassword } from './restore-tokens.ts'

/**
 * Resumes a paused account, and rejects a sign-in while a deletion is pending, which a sign-in alone never cancels.
 * @throws AccountDeletionPending with a token that cancels it
 */
export async function resumeOrReject (
  trx: Trx,
  secrets: Secrets,
  { accountId, method }: { accountId: string, method: SignInMethod }
) {
  const { pausedAt, erasureId, eraseAt, passwordHash } = await trx.selectFrom('accounts')
    .leftJoin(
      'erasures',
      (join) =>
        join.onRef('erasures.account_id', '=', 'accounts.id').on('status', 'in', ['SCHEDULED', 'HELD', 'RUNNING'])
    )
    .where('accounts.id', '=', accountId)
    .select([
      'paused_at as pausedAt',
      'erasures.id as erasureId',
      'erase_at as eraseAt',
      'password_hash as passwordHash'
    ])
    .executeTakeFirstOrThrow()
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
