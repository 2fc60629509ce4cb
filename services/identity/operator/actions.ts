import { sql } from 'kysely'
import { lockAccount } from '../accounts/queries.ts'
import { UserNotFound } from '../errors.ts'
import type { Db, Role, Trx } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { cancelSubscription, startSubscription } from '../subscriptions/actions.ts'

/** Gives or takes a role. Access tokens carry the role, so the sessions that would still show the old one end. */
export async function setRole (db: Db, email: string, role: Role) {
  await change(db, email, async (trx, accountId) => {
    await trx.updateTable('accounts').set({ role, updated_at: sql`now()` }).where('id', '=', accountId).execute()
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'ROLE_CHANGED', accountId, detail: { role } })
  })
}

export async function grantSubscription (db: Db, email: string, terms: { planId: string, days: number }) {
  await change(db, email, async (trx, accountId) => await startSubscription(trx, accountId, terms))
}

/** Returns whether there was one to take. */
export async function takeSubscription (db: Db, email: string) {
  return await change(db, email, cancelSubscription)
}

/** Keeps somebody out: every session ends and none begins, until he is let in again. */
export async function ban (db: Db, email: string) {
  await change(db, email, async (trx, accountId) => {
    await trx.updateTable('accounts').set({ barred_at: sql`now()`, updated_at: sql`now()` }).where('id', '=', accountId).execute()
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'ACCOUNT_BANNED', accountId, detail: {} })
  })
}

export async function unban (db: Db, email: string) {
  await change(db, email, async (trx, accountId) => {
    await trx.updateTable('accounts').set({ barred_at: null, updated_at: sql`now()` }).where('id', '=', accountId).execute()
    await logSecurityEvent(trx, { kind: 'ACCOUNT_UNBANNED', accountId, detail: {} })
  })
}

/** Returns how many there were. */
export async function endAllSessions (db: Db, email: string) {
  return await change(db, email, async (trx, accountId) => {
    const sessions = await endSessions(trx, { accountId })
    if (sessions > 0) await logSecurityEvent(trx, { kind: 'SESSIONS_REVOKED', accountId, detail: { by: 'OPERATOR', sessions } })
    return sessions
  })
}

/** Changes the account of an address in a transaction that holds it. @throws UserNotFound */
async function change<Result> (db: Db, email: string, work: (trx: Trx, accountId: string) => Promise<Result>) {
  return await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { email: email.toLowerCase() })
    if (!account) throw new UserNotFound()
    return await work(trx, account.id)
  })
}
