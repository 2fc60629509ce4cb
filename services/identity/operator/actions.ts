import { sql } from 'kysely'
import { setHidden } from '../hidden.ts'
import { lockAccount } from '../accounts/queries.ts'
import { UserNotFound } from '../errors.ts'
import { removeLinks } from '../provider-links/actions.ts'
import type { Db, Provider, Role, Trx } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { cancelSubscription, startSubscription } from '../subscriptions/actions.ts'

/** Sets a role. Access tokens contain the role, so all sessions end to retire tokens with the old one. */
export async function setRole (db: Db, email: string, role: Role) {
  await changeAccount(db, email, async (trx, accountId) => {
    await trx.updateTable('accounts').set({ role, updated_at: sql`now()` }).where('id', '=', accountId).execute()
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'ROLE_CHANGED', accountId, detail: { role } })
  })
}

export async function grantSubscription (db: Db, email: string, terms: { planId: string, days: number }) {
  await changeAccount(db, email, async (trx, accountId) => await startSubscription(trx, accountId, terms))
}

/** @returns whether there was a subscription to cancel */
export async function cancelSubscriptionOf (db: Db, email: string) {
  return await changeAccount(db, email, cancelSubscription)
}

/** Bans an account: all sessions end, and no new one starts until the account is unbanned. */
export async function ban (db: Db, email: string) {
  await changeAccount(db, email, async (trx, accountId) => {
    await setHidden(trx, accountId, { banned_at: sql`now()` })
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'ACCOUNT_BANNED', accountId, detail: {} })
  })
}

export async function unban (db: Db, email: string) {
  await changeAccount(db, email, async (trx, accountId) => {
    await setHidden(trx, accountId, { banned_at: null })
    await logSecurityEvent(trx, { kind: 'ACCOUNT_UNBANNED', accountId, detail: {} })
  })
}

/** @returns how many sessions ended @throws UserNotFound */
export async function endAllSessionsOf (db: Db, by: { id: string } | { email: string }) {
  return await changeAccount(db, by, async (trx, accountId) => {
    const sessions = await endSessions(trx, { accountId })
    if (sessions > 0) {
      await logSecurityEvent(trx, { kind: 'SESSIONS_REVOKED', accountId, detail: { by: 'OPERATOR', sessions } })
    }
    return sessions
  })
}

/** Removes a provider from the sign-in of an account. @throws UserNotFound, ProviderNotLinked, LastSignInMethod */
export async function removeProviderOf (db: Db, accountId: string, provider: Provider) {
  await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: accountId })
    if (!account) throw new UserNotFound()
    await removeLinks(trx, account, { provider, by: 'OPERATOR' })
    await endSessions(trx, { accountId })
  })
}

/** Changes an account in a transaction that holds its lock. @throws UserNotFound */
async function changeAccount<Result> (
  db: Db,
  by: string | { id: string } | { email: string },
  work: (trx: Trx, accountId: string) => Promise<Result>
) {
  return await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, typeof by === 'string' ? { email: by.toLowerCase() } : by)
    if (!account) throw new UserNotFound()
    return await work(trx, account.id)
  })
}
