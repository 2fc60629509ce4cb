import { networkOf } from '@tandem/http-kit'
import { lockAccount } from '../accounts/queries.ts'
import { redeemCode } from '../codes/actions.ts'
import type { Deps } from '../deps.ts'
import { EmailNotVerified, InvalidCode, InvalidCredentials, ProviderAAccount } from '../errors.ts'
import { updatePassword } from '../passwords/actions.ts'
import { withVerifiedPassword } from '../passwords/throttle.ts'
import { startSession, type Client } from '../sessions/actions.ts'
import { findCredentials, hasSignInCode } from './queries.ts'
import { verifyAccount } from './verify-account.ts'

/**
 * Signs in with a password.
 * @throws InvalidCredentials, ProviderAAccount, EmailNotVerified, TooBusy
 */
export async function signIn (
  deps: Deps,
  { email, password, client }: { email: string, password: string, client: Client }
) {
  const { db, hashing } = deps
  const network = networkOf(client.address)
  const known = await findCredentials(db, email, network)
  if (known?.hasOnlyProviderA) throw new ProviderAAccount()
  const signedIn = await withVerifiedPassword(deps, {
    email,
    password,
    network,
    known,
    createError: () => new InvalidCredentials()
  }, {
    hashNew: async () =>
      known?.passwordHash && hashing.isOutdated(known.passwordHash) ? await hashing.hash(password, email) : undefined,
    work: async (trx, account, newHash) => {
      if (!account.emailVerified) return
      const session = await startSession(trx, deps.secrets, { accountId: account.id, method: 'PASSWORD', client })
      if (newHash) await updatePassword(trx, account.id, newHash)
      return { account, ...session }
    }
  })
  // Thrown after the commit, because the failed attempts must be cleared.
  if (!signedIn) throw new EmailNotVerified()
  return signedIn
}

/** Signs in with a mailed code, which also verifies the address. @throws InvalidCode */
export async function signInByCode (
  { db, secrets }: Deps,
  { email, code, client }: { email: string, code: string, client: Client }
) {
  // A flood of wrong codes is rejected here, without waiting for the lock of the account.
  if (!await hasSignInCode(db, email)) throw new InvalidCode()

  const signedIn = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { email })
    if (!account || account.isBanned) return
    if (!await redeemCode(trx, secrets, { accountId: account.id, purpose: 'SIGN_IN', code })) return
    // Nobody had proved ownership of the address before, so an earlier password and earlier sessions are revoked.
    if (!account.emailVerified) await verifyAccount(trx, account, 'SOMEBODY_ELSE')
    const session = await startSession(trx, secrets, { accountId: account.id, method: 'CODE', client })
    return { account: { ...account, emailVerified: true }, ...session }
  })
  // Thrown after the commit, because the attempt must be counted.
  if (!signedIn) throw new InvalidCode()
  return signedIn
}
