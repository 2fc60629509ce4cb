import { sql } from 'kysely'
import { networkOf } from '@tandem/service-kit'
import { verifyAccount } from '../accounts/actions.ts'
import { lockAccount } from '../accounts/queries.ts'
import { takeCode } from '../codes/actions.ts'
import type { Deps } from '../deps.ts'
import { EmailNotVerified, InvalidCode, InvalidCredentials, ProviderAAccount } from '../errors.ts'
import { acceptPassword, isRightPassword } from '../passwords/guesses.ts'
import { startSession, type Client } from '../sessions/actions.ts'
import { findCredentials, hasSignInCode } from './queries.ts'

/**
 * Signs in by password.
 * @throws InvalidCredentials, ProviderAAccount, EmailNotVerified, TooBusy
 */
export async function signIn (deps: Deps, { email, password, client }: { email: string, password: string, client: Client }) {
  const { db, hashing } = deps
  const network = networkOf(client.address)
  const known = await findCredentials(db, email, network)
  if (known?.hasOnlyProviderA) throw new ProviderAAccount()
  const source = { email, knownNetwork: known?.knowsNetwork ? network : undefined }
  const right = await isRightPassword(deps, source, { password, hash: known?.passwordHash })
  if (!right || !known?.passwordHash) throw new InvalidCredentials()
  const newHash = hashing.isOutdated(known.passwordHash) ? await hashing.hash(password, email) : undefined

  const signedIn = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: known.id })
    // A password that was changed or taken away while it was compared is no longer the right one.
    if (!account || account.isBarred || account.passwordHash !== known.passwordHash) throw new InvalidCredentials()
    if (!await acceptPassword(trx, deps, source)) throw new InvalidCredentials()
    if (!account.emailVerified) return
    if (newHash) await trx.updateTable('accounts').set({ password_hash: newHash, updated_at: sql`now()` }).where('id', '=', account.id).execute()
    return { account, ...await startSession(trx, { accountId: account.id, method: 'PASSWORD', client }) }
  })
  // Thrown only now, because the wrong passwords before it had to be forgotten.
  if (!signedIn) throw new EmailNotVerified()
  return signedIn
}

/** Signs in by a code that was mailed, which also verifies the address. @throws InvalidCode */
export async function signInByCode ({ db, secrets }: Deps, { email, code, client }: { email: string, code: string, client: Client }) {
  // A flood of wrong codes ends here, without queueing for the account.
  if (!await hasSignInCode(db, email)) throw new InvalidCode()

  const signedIn = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { email })
    if (!account || account.isBarred) return
    if (!await takeCode(trx, secrets, { accountId: account.id, purpose: 'SIGN_IN', code })) return
    // Until now nobody had proved to own this address, so nobody keeps what he set up with it.
    if (!account.emailVerified) await verifyAccount(trx, account, 'SOMEBODY_ELSE')
    const session = await startSession(trx, { accountId: account.id, method: 'CODE', client })
    return { account: { ...account, emailVerified: true }, ...session }
  })
  // Thrown only now, because the try had to be counted.
  if (!signedIn) throw new InvalidCode()
  return signedIn
}
