import { sql } from 'kysely'
import type { StaffRole } from '@tandem/operator-kit'
import type { RouteDeps } from '../deps.ts'
import { StaffSessionEnded } from '../errors.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'
import type { Db, Trx } from '../tables.ts'

const LIFETIME = '8 hours'
const IDLE_LIFETIME = '20 minutes'
// Long enough for the others to read that there is a new passkey, and to act.
const CONFIRMS_AFTER_MS = 24 * 60 * 60_000

/** @returns the secret of the session, of which only a digest is stored */
export async function startStaffSession (trx: Trx, staffId: string) {
  const session = generateToken()
  await trx.insertInto('staff_sessions').values({ digest: digestOfToken(session), staff_id: staffId }).execute()
  return { session, staffId }
}

export interface StaffSession {
  id: string
  staffId: string
  role: StaffRole
  email: string
  accountId: string | null
  provedAt: Date
  invitedBy: string[]
  /** When the passkey of the operator was created; null if it was removed. */
  passkeyAt: Date | null
}

/** The session of a secret; using it keeps it alive for another 20 minutes. @throws StaffSessionEnded */
export async function useStaffSession (db: Db, secret: string): Promise<StaffSession> {
  const { rows: [session] } = await sql<StaffSession>`
    update staff_sessions set last_used_at = now() from staff
    where digest = ${digestOfToken(secret)} and staff.id = staff_id and disabled_at is null and ended_at is null
      and staff_sessions.created_at > now() - ${LIFETIME}::interval
      and last_used_at > now() - ${IDLE_LIFETIME}::interval
    returning staff_sessions.id, staff_id as "staffId", role, email, account_id as "accountId",
      proved_at as "provedAt", invited_by as "invitedBy",
      (select max(created_at) from passkeys where passkeys.staff_id = staff.id) as "passkeyAt"`.execute(db)
  if (!session) throw new StaffSessionEnded()
  return session
}

export async function endStaffSession (db: Db, secret: string) {
  await db.updateTable('staff_sessions').set({ ended_at: sql`now()` }).where('digest', '=', digestOfToken(secret))
    .where('ended_at', 'is', null).execute()
}

/** Ends all sessions of an operator. */
export async function endStaffSessionsOf (trx: Trx, staffId: string) {
  await trx.updateTable('staff_sessions').set({ ended_at: sql`now()` }).where('staff_id', '=', staffId)
    .where('ended_at', 'is', null).execute()
}

/** The token of one page of the console. */
export async function issueStaffToken (
  { issueOperatorToken }: Pick<RouteDeps, 'issueOperatorToken'>,
  session: StaffSession
) {
  const { id, staffId, role, accountId, provedAt, invitedBy, passkeyAt } = session
  return await issueOperatorToken({
    id: staffId,
    sessionId: id,
    role,
    accountId,
    provedAt,
    invitedBy,
    canConfirm: passkeyAt !== null && Date.now() - passkeyAt.getTime() >= CONFIRMS_AFTER_MS
  })
}
