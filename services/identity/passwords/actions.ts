import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { PasswordChanged } from '@tandem/contracts'
import { networkOf } from '@tandem/account-kit'
import { lockAccount } from '../accounts/queries.ts'
import { claimAttempt } from '../attempt-limit.ts'
import type { Deps } from '../deps.ts'
import {
  EmailNotVerified,
  InvalidCurrentPassword,
  InvalidResetToken,
  PasswordAlreadySet,
  UserNotFound
} from '../errors.ts'
import { redeemLink } from '../mailed-links.ts'
import type { Trx } from '../tables.ts'
import { expireExports } from '../expire-exports.ts'
import { discardPendingChanges } from '../pending-changes.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { lockCaller, type Caller } from '../sessions/caller.ts'
import { isKnownNetwork, saveNetwork } from '../sessions/networks.ts'
import { clearFailedAttempts, withVerifiedPassword } from './throttle.ts'
import { findPassword, isResetValid } from './queries.ts'

/**
 * Sets the first password of an account that has none.
 * @throws CommonPassword, UserNotFound, PasswordAlreadySet, InvalidAccessToken, TooBusy
 */
export async function setInitialPassword ({ db, hashing, blocklist }: Deps, caller: Caller, password: string) {
  const { accountId } = caller
  await blocklist.assertUncommon(password)
  const known = await findPassword(db, accountId)
  if (!known) throw new UserNotFound()
  if (known.hash) throw new PasswordAlreadySet()

  const hash = await hashing.hash(password, known.email)
  await db.transaction().execute(async (trx) => {
    const account = await lockCaller(trx, caller)
    if (account.passwordHash) throw new PasswordAlreadySet()
    await updatePassword(trx, accountId, hash)
    await expireExports(trx, { account_id: accountId })
    await logSecurityEvent(trx, { kind: 'PASSWORD_CHANGED', accountId, detail: { how: 'INITIAL' } })
    await publish(trx, PasswordChanged, accountId, { accountId, how: 'INITIAL' })
  })
}

interface Change {
  currentPassword: string
  password: string
  network: string
}

/**
 * Changes a password, given the current one. Every other session ends.
 * @throws CommonPassword, UserNotFound, EmailNotVerified, RateLimited, InvalidCurrentPassword, InvalidAccessToken, TooBusy
 */
export async function changePassword (deps: Deps, caller: Caller, { currentPassword, password, network }: Change) {
  const { accountId, sessionId } = caller
  const { db, hashing, blocklist } = deps
  await blocklist.assertUncommon(password)
  const known = await findPassword(db, accountId)
  if (!known) throw new UserNotFound()
  // An attacker may have registered the address, and each change sends a mail to its owner.
  if (!known.emailVerified) throw new EmailNotVerified()
  // Counted before the password is hashed, which is expensive.
  await claimAttempt(db, 'password_change_attempts', accountId)
  const hasKnownNetwork = await isKnownNetwork(db, accountId, network)
  await withVerifiedPassword(deps, {
    email: known.email,
    password: currentPassword,
    network,
    known: { id: accountId, passwordHash: known.hash, hasKnownNetwork },
    createError: () => new InvalidCurrentPassword()
  }, {
    hashNew: async () => await hashing.hash(password, known.email),
    work: async (trx, _account, hash) => {
      await lockCaller(trx, caller)
      await updatePassword(trx, accountId, hash)
      await discardPendingChanges(trx, accountId)
      await expireExports(trx, { account_id: accountId })
      await endSessions(trx, { accountId, except: sessionId })
      await logSecurityEvent(trx, { kind: 'PASSWORD_CHANGED', accountId, detail: { how: 'CHANGED' } })
      await publish(trx, PasswordChanged, accountId, { accountId, how: 'CHANGED' })
    }
  })
}

interface Reset {
  email: string
  token: string
  password: string
  address: string
}

/**
 * Sets a password with the link from a mail, which can be used once. Every session ends.
 * @throws InvalidResetToken, TooBusy
 */
export async function resetPassword (deps: Deps, { email, token, password, address }: Reset) {
  const { db, hashing } = deps
  if (!await isResetValid(db, { email, token })) throw new InvalidResetToken()

  const hash = await hashing.hash(password, email)
  await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { email })
    if (!account || !await redeemLink(trx, 'RESET', { accountId: account.id, token })) throw new InvalidResetToken()
    const accountId = account.id
    await updatePassword(trx, accountId, hash)
    await discardPendingChanges(trx, accountId)
    await expireExports(trx, { account_id: accountId })
    // The owner of the mailbox set this password, so it must survive when they verify the address from this network.
    const network = networkOf(address)
    await trx.updateTable('accounts').set({ registered_network: network }).where('id', '=', accountId).execute()
    await saveNetwork(trx, accountId, address)
    for (const knownNetwork of [undefined, network]) await clearFailedAttempts(trx, deps, { email, knownNetwork })
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'PASSWORD_CHANGED', accountId, detail: { how: 'RESET' } })
    await publish(trx, PasswordChanged, accountId, { accountId, how: 'RESET' })
  })
}

export async function updatePassword (trx: Trx, accountId: string, hash: string) {
  await trx.updateTable('accounts').set({ password_hash: hash, updated_at: sql`now()` }).where('id', '=', accountId)
    .execute()
}
