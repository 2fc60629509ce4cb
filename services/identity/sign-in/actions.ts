import { networkOf } from '@tandem/account-kit'
import { lockAccount, type LockedAccount } from '../accounts/queries.ts'
import { deleteCode, redeemPublicCode } from '../codes/actions.ts'
import { redeemCodeLink } from '../codes/links.ts'
import type { Deps } from '../deps.ts'
import {
  AccountDeletionPending,
  EmailNotVerified,
  InvalidCode,
  InvalidCredentials,
  InvalidResetToken,
  ProviderAAccount
} from '../errors.ts'
import { updatePassword } from '../passwords/actions.ts'
import { withVerifiedPassword } from '../passwords/throttle.ts'
import { startSession, type Client } from '../sessions/actions.ts'
import { saveNetwork } from '../sessions/networks.ts'
import type { Secrets } from '../secrets.ts'
import type { Trx } from '../tables.ts'
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
    hashNew: async (hash) => hashing.isOutdated(hash) ? await hashing.hash(password, email) : undefined,
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

/**
 * Signs in with a mailed code, which also verifies the address, also if a deletion is pending.
 * @throws InvalidCode, AccountDeletionPending
 */
export async function signInByCode (
  { db, secrets }: Deps,
  { email, code, client }: { email: string, code: string, client: Client }
) {
  const network = networkOf(client.address)
  // A flood of wrong codes is rejected here, without waiting for the lock of the account.
  if (!await hasSignInCode(db, email, network)) throw new InvalidCode()

  const signedIn = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { email })
    if (!account || account.isBanned) return
    if (!await redeemPublicCode(trx, secrets, { accountId: account.id, purpose: 'SIGN_IN', code, network })) return
    await verifyByMail(trx, account)
    return await startOrReject(trx, secrets, account, client)
  })
  // Thrown after the commit, because the attempt must be counted.
  if (!signedIn) throw new InvalidCode()
  if (signedIn instanceof AccountDeletionPending) throw signedIn
  return signedIn
}

/**
 * Signs in with the link that was mailed with the code, once. It also verifies the address, also if a deletion is
 * pending.
 * @throws InvalidResetToken, AccountDeletionPending
 */
export async function signInByLink ({ db, secrets }: Deps, { token, client }: { token: string, client: Client }) {
  const signedIn = await db.transaction().execute(async (trx) => {
    const account = await redeemSignInLink(trx, token)
    await deleteCode(trx, { accountId: account.id, purpose: 'SIGN_IN' })
    return await startOrReject(trx, secrets, account, client)
  })
  if (signedIn instanceof AccountDeletionPending) throw signedIn
  return signedIn
}

/**
 * Starts the session of a sign-in by mail. A rejection because of a pending deletion is returned, to be thrown after the
 * commit: its token is valid only with the password that the account has now, which the sign-in may have cleared.
 */
async function startOrReject (trx: Trx, secrets: Secrets, account: LockedAccount, client: Client) {
  try {
    const session = await startSession(trx, secrets, { accountId: account.id, method: 'CODE', client })
    return { account: { ...account, emailVerified: true }, ...session }
  } catch (error) {
    if (error instanceof AccountDeletionPending) return error
    throw error
  }
}

/**
 * Makes the network of `address` known with the link that was mailed with the code, once, for devices that open it in a
 * browser. Wrong codes and mails that others request do not count for known networks. @throws InvalidResetToken
 */
export async function allowNetwork ({ db }: Deps, { token, address }: { token: string, address: string }) {
  await db.transaction().execute(async (trx) => {
    const account = await redeemSignInLink(trx, token)
    await saveNetwork(trx, account.id, address)
  })
}

async function redeemSignInLink (trx: Trx, token: string) {
  const account = await redeemCodeLink(trx, { purpose: 'SIGN_IN', token })
  if (!account || account.isBanned) throw new InvalidResetToken()
  await verifyByMail(trx, account)
  return account
}

async function verifyByMail (trx: Trx, account: LockedAccount) {
  // Nobody had proved ownership of the address before, so an earlier password and earlier sessions are revoked.
  if (!account.emailVerified) await verifyAccount(trx, account, 'SOMEBODY_ELSE')
}
