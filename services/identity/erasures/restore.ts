import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { AccountBanned, InvalidResetToken } from '../errors.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { startSession, type Client } from '../sessions/actions.ts'
import { digestOfPassword, readRestoreToken } from '../sessions/restore-tokens.ts'
import { verifyAccount } from '../sign-in/verify-account.ts'
import { cancelErasure } from './actions.ts'

/**
 * Cancels a deletion and signs the owner in, unless the account is banned.
 * @throws InvalidResetToken, DeletionBegun, AccountBanned
 */
export async function restoreAccount ({ db, secrets }: Pick<Deps, 'db' | 'secrets'>, token: string, client: Client) {
  const restorable = readRestoreToken(secrets, token)
  if (!restorable) throw new InvalidResetToken()
  const { accountId, erasureId, method, passwordDigest } = restorable
  const restored = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: accountId })
    if (!account) throw new InvalidResetToken()
    // Somebody else may have signed in, and the owner has set a new password.
    if (passwordDigest !== undefined && passwordDigest !== digestOfPassword(secrets, account.passwordHash)) {
      throw new InvalidResetToken()
    }
    await cancelErasure(trx, accountId, erasureId)
    await logSecurityEvent(trx, { kind: 'DELETION_CANCELED', accountId, detail: {} })
    if (account.isBanned) return
    // The mail proves the address, as a sign-in code does. Somebody else may have registered it.
    const isProvedByMail = method === 'CODE'
    if (isProvedByMail && !account.emailVerified) await verifyAccount(trx, account, 'SOMEBODY_ELSE')
    const session = await startSession(trx, secrets, { accountId, method, client })
    return { account: { ...account, emailVerified: account.emailVerified || isProvedByMail }, ...session }
  })
  // Thrown after the commit, because the deletion is canceled.
  if (!restored) throw new AccountBanned()
  return restored
}
