import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { AccountVerified, PasswordChanged } from '@tandem/contracts'
import { isUniqueViolation } from '@tandem/database-kit'
import { RateLimited } from '@tandem/http-kit'
import { createMail, renderMail } from '@tandem/mail-kit'
import { lockAccount, type LockedAccount } from '../accounts/queries.ts'
import { claimAttempt } from '../attempt-limit.ts'
import { redeemCode } from '../codes/actions.ts'
import { mailCode } from '../codes/mails.ts'
import type { Deps } from '../deps.ts'
import { cancelErasure } from '../erasures/actions.ts'
import { expireAccount } from '../erasures/expiry.ts'
import { findLiveErasure } from '../erasures/queries.ts'
import { EmailExists, InvalidCode, InvalidResetToken } from '../errors.ts'
import { expireExports } from '../expire-exports.ts'
import { linkTo } from '../mailed-links.ts'
import { claimProof } from '../proofs/actions.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'
import { isEmailBanned } from '../remembered/queries.ts'
import { isAddressReserved } from '../reserved-addresses.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { lockCaller, type Caller } from '../sessions/caller.ts'
import { deleteNetworks } from '../sessions/networks.ts'
import type { Db, Trx } from '../tables.ts'

const REVERT_LIFETIME = '7 days'
const HOUR_SECONDS = 3_600

type AddressDeps = Pick<Deps, 'db' | 'secrets' | 'mailer' | 'publicUrl'>

/**
 * Mails a code to a new address. Nothing changes before it is confirmed. Five times a day.
 * @throws ProofRequired, EmailExists, RateLimited, InvalidAccessToken
 */
export async function requestEmailChange (
  { db, secrets, mailer }: AddressDeps,
  caller: Caller,
  { email, proof }: { email: string, proof: string }
) {
  const { accountId } = caller
  const mail = await db.transaction().execute(async (trx) => {
    const account = await lockCaller(trx, caller)
    await claimProof(trx, caller, { purpose: 'CHANGE_EMAIL', proof })
    await claimAttempt(trx, 'email_change_attempts', accountId)
    const taken = await trx.selectFrom('accounts').where('email', '=', email)
      // Who registered the address and never verified it does not keep its owner from it.
      .where((row) => row.or([row('email_verified_at', 'is not', null), row('banned_at', 'is not', null)]))
      .select('id').executeTakeFirst()
    if (taken || await isEmailBanned(trx, secrets, email) || await isAddressReserved(trx, email, accountId)) {
      throw new EmailExists()
    }
    const created = await mailCode(trx, secrets, {
      accountId,
      purpose: 'NEW_EMAIL',
      recipient: email,
      dedupeKey: `new-email:${randomUUID()}`,
      rateLimitKey: 'NEW_EMAIL'
    }, (code) => renderMail({ kind: 'newEmail', locale: account.locale, code }))
    if (!created) throw new RateLimited(HOUR_SECONDS)
    await trx.insertInto('email_changes').values({ account_id: accountId, new_email: email })
      .onConflict((conflict) =>
        conflict.column('account_id').doUpdateSet({ new_email: email, requested_at: sql`now()` })
      )
      .execute()
    return created
  })
  void mailer.enqueue([mail])
}

/**
 * Changes the address with the mailed code. Other sessions end, and so does everything that was mailed to the old
 * address, which gets a link to take the change back. @throws InvalidCode, EmailExists, InvalidAccessToken
 */
export async function confirmEmailChange (deps: AddressDeps, caller: Caller, code: string) {
  const { db, secrets, mailer } = deps
  const { accountId, sessionId } = caller
  const changed = await db.transaction().execute(async (trx) => {
    const account = await lockCaller(trx, caller)
    const pending = await trx.selectFrom('email_changes').where('account_id', '=', accountId).select('new_email')
      .executeTakeFirst()
    if (!pending || !await redeemCode(trx, secrets, { accountId, purpose: 'NEW_EMAIL', code })) return
    const email = pending.new_email
    const mail = await mailRevertLink(trx, deps, account)
    await setEmail(trx, account, email)
    await endSessions(trx, { accountId, except: sessionId })
    await logSecurityEvent(trx, { kind: 'EMAIL_CHANGED', accountId, detail: { how: 'CHANGED' } })
    if (!account.emailVerified) await publish(trx, AccountVerified, accountId, { accountId })
    return { email, mail }
  }).catch(throwIfTaken)
  // Thrown after the commit, because the attempt must be counted.
  if (!changed) throw new InvalidCode()
  void mailer.enqueue([changed.mail])
  return changed.email
}

/** Who can read the mails of an address that nobody verified may never have had the account: they get no link. */
async function mailRevertLink (trx: Trx, { publicUrl }: AddressDeps, account: LockedAccount) {
  if (!account.emailVerified) return
  const token = generateToken()
  const digest = digestOfToken(token)
  await trx.insertInto('email_reverts')
    .values({
      digest,
      account_id: account.id,
      old_email: account.email,
      expires_at: sql`now() + ${REVERT_LIFETIME}::interval`
    })
    .execute()
  return await createMail(trx, {
    dedupeKey: `email-changed:${digest.toString('hex')}`,
    recipient: account.email,
    accountId: account.id,
    // Nobody can suppress it by requesting other mails first.
    rateLimited: false,
    lifetime: REVERT_LIFETIME,
    ...renderMail({
      kind: 'emailChanged',
      locale: account.locale,
      url: linkTo(`${publicUrl}/restore-address`, { token })
    })
  })
}

/**
 * Takes a change of address back with the link that was mailed to the old one, and with it all that a thief may have
 * done since: the password is cleared, every session ends, providers that were linked are removed, and a deletion is
 * canceled. @throws InvalidResetToken, EmailExists, DeletionBegun
 */
export async function revertEmailChange ({ db }: Pick<Deps, 'db'>, token: string) {
  await db.transaction().execute(async (trx) => {
    const link = await findRevert(trx, token)
    const account = link && await lockAccount(trx, { id: link.accountId })
    // Read again under the lock, so that a link works once.
    if (!account || !await findRevert(trx, token)) throw new InvalidResetToken()
    const accountId = account.id
    // What is older stays: it belongs to an earlier owner.
    for (const table of ['email_reverts', 'provider_links'] as const) {
      await trx.deleteFrom(table).where('account_id', '=', accountId).where('created_at', '>=', link.createdAt)
        .execute()
    }
    await deleteNetworks(trx, accountId)
    await cancelDeletion(trx, accountId)
    await setEmail(trx, account, link.oldEmail)
    await trx.updateTable('accounts').set({ password_hash: null }).where('id', '=', accountId).execute()
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'EMAIL_CHANGED', accountId, detail: { how: 'REVERTED' } })
    if (account.passwordHash) await publish(trx, PasswordChanged, accountId, { accountId, how: 'CLEARED' })
  }).catch(throwIfTaken)
}

/** Whatever deletion is scheduled was requested after the change: it ended the sessions that could make one. */
async function cancelDeletion (trx: Trx, accountId: string) {
  const erasure = await findLiveErasure(trx, accountId)
  if (!erasure) return
  await cancelErasure(trx, accountId, erasure.id)
  await logSecurityEvent(trx, { kind: 'DELETION_CANCELED', accountId, detail: {} })
}

const findRevert = async (db: Db, token: string) =>
  await db.selectFrom('email_reverts').where('digest', '=', digestOfToken(token))
    .where('expires_at', '>', sql<Date>`clock_timestamp()`)
    .select(['account_id as accountId', 'old_email as oldEmail', 'created_at as createdAt']).executeTakeFirst()

/**
 * Stores a verified address, and ends what was mailed to the one before. An account that registered the address and never
 * verified it is released. @throws EmailExists
 */
async function setEmail (trx: Trx, { id: accountId }: LockedAccount, email: string) {
  const unverified = await lockAccount(trx, { email })
  if (unverified && unverified.id !== accountId && !unverified.emailVerified && !unverified.isBanned) {
    await expireAccount(trx, unverified.id)
  }
  await trx.updateTable('accounts').set({ email, email_verified_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', accountId).execute()
  // After the update, which has waited for an account that was giving up this address at the same moment.
  if (await isAddressReserved(trx, email, accountId)) throw new EmailExists()
  for (const table of ['email_changes', 'codes', 'password_resets', 'deletion_links', 'proofs'] as const) {
    await trx.deleteFrom(table).where('account_id', '=', accountId).execute()
  }
  await expireExports(trx, { account_id: accountId })
}

function throwIfTaken (error: unknown): never {
  throw isUniqueViolation(error) ? new EmailExists() : error
}
