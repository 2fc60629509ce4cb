import { sql } from 'kysely'
import { setHidden } from '../hidden.ts'
import { lockAccount, type LockedAccount } from '../accounts/queries.ts'
import { UserNotFound } from '../errors.ts'
import { removeLinks } from '../provider-links/actions.ts'
import type { Db, Provider, Role, Trx } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { deriveSubscription, type DeriveDeps } from '../subscriptions/derive.ts'
import { grantPremium, takeGrants } from '../subscriptions/grants.ts'

/** Sets a role. Access tokens contain the role, so all sessions end to retire tokens with the old one. */
export async function setRole (db: Db, by: By, role: Role) {
  await changeAccount(db, by, async (trx, { id: accountId }) => {
    await trx.updateTable('accounts').set({ role, updated_at: sql`now()` }).where('id', '=', accountId).execute()
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'ROLE_CHANGED', accountId, detail: { role } })
  })
}

type SubscriptionDeps = DeriveDeps & { db: Db }
type By = { id: string } | { email: string }

interface Terms {
  planId: string
  days: number
  /** The operator; nobody in the shell. */
  givenBy?: string
}

export async function grantSubscription ({ db, ...deps }: SubscriptionDeps, by: By, terms: Terms) {
  await changeAccount(db, by, async (trx, { id: accountId }) => {
    await grantPremium(trx, deps, { accountId, reason: 'OPERATOR', ...terms })
    const { planId, days } = terms
    await logSecurityEvent(trx, { kind: 'SUBSCRIPTION_GRANTED', accountId, detail: { planId, days } })
  })
}

/** Ends what was granted, never what a store sold. @returns whether there was a grant */
export async function cancelSubscriptionOf ({ db, ...deps }: SubscriptionDeps, by: By) {
  return await changeAccount(db, by, async (trx, { id: accountId }) => {
    const isTaken = await takeGrants(trx, deps, accountId)
    if (isTaken) await logSecurityEvent(trx, { kind: 'SUBSCRIPTION_TAKEN', accountId, detail: {} })
    return isTaken
  })
}

/** Has the stores asked now. @returns how many purchases of the account they are asked about */
export async function recheckPurchases (db: Db, by: By) {
  return await changeAccount(db, by, async (trx, { id: accountId }) => {
    const asked = await trx.updateTable('purchases').set({ check_at: sql`now()`, attempts: 0 })
      .where(
        'id',
        'in',
        (purchases) =>
          purchases.selectFrom('purchases').where('account_id', '=', accountId).select('id')
            // A recording locks purchases first and then accounts, so waiting for one could deadlock.
            .forUpdate().skipLocked()
      )
      .returning('id').execute()
    await logSecurityEvent(trx, { kind: 'PURCHASES_RECHECKED', accountId, detail: { purchases: asked.length } })
    return asked.length
  })
}

/** Whether purchases in the stores' sandboxes count for an account, as those of people who review the app. */
export async function markSandbox ({ db, ...deps }: SubscriptionDeps, by: By, usesSandbox: boolean) {
  await changeAccount(db, by, async (trx, { id: accountId }) => {
    await trx.updateTable('accounts').set({ uses_sandbox: usesSandbox }).where('id', '=', accountId).execute()
    await deriveSubscription(trx, deps, accountId)
    await logSecurityEvent(trx, { kind: 'SANDBOX_MARKED', accountId, detail: { usesSandbox } })
  })
}

/** Bans an account: all sessions end, and no new one starts until the account is unbanned. */
export async function ban (db: Db, by: By) {
  await changeAccount(db, by, async (trx, { id: accountId }) => {
    await setHidden(trx, accountId, { banned_at: sql`now()` })
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'ACCOUNT_BANNED', accountId, detail: {} })
  })
}

/** Ends every ban of an account. @returns whether it was banned */
export async function unban (db: Db, by: By) {
  return await changeAccount(db, by, async (trx, { id: accountId, isBanned }) => {
    if (!isBanned) return false
    await setHidden(trx, accountId, { banned_at: null })
    await logSecurityEvent(trx, { kind: 'ACCOUNT_UNBANNED', accountId, detail: {} })
    return true
  })
}

/** @returns how many sessions ended @throws UserNotFound */
export async function endAllSessionsOf (db: Db, by: By) {
  return await changeAccount(db, by, async (trx, { id: accountId }) => {
    const sessions = await endSessions(trx, { accountId })
    if (sessions > 0) {
      await logSecurityEvent(trx, { kind: 'SESSIONS_REVOKED', accountId, detail: { by: 'OPERATOR', sessions } })
    }
    return sessions
  })
}

/** Removes a provider from the sign-in of an account. @throws UserNotFound, ProviderNotLinked, LastSignInMethod */
export async function removeProviderOf (db: Db, accountId: string, provider: Provider) {
  await changeAccount(db, { id: accountId }, async (trx, account) => {
    await removeLinks(trx, account, { provider, by: 'OPERATOR' })
    await endSessions(trx, { accountId })
  })
}

/** Changes an account in a transaction that holds its lock. @throws UserNotFound */
async function changeAccount<Result> (
  db: Db,
  by: By,
  work: (trx: Trx, account: LockedAccount) => Promise<Result>
) {
  return await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, by)
    if (!account) throw new UserNotFound()
    return await work(trx, account)
  })
}
