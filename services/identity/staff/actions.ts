import { sql } from 'kysely'
import { Forbidden } from '@tandem/http-kit'
import type { Operator, StaffRole } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { LastAdmin, StaffExists, StaffNotFound } from '../errors.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'
import type { Db, Trx } from '../tables.ts'
import { endStaffSessionsOf } from './sessions.ts'

const INVITATION_LIFETIME = '24 hours'

/** @throws StaffExists @returns the link to add a passkey, which works once within 24 hours */
export async function inviteStaff (
  { db, console }: Pick<Deps, 'db' | 'console'>,
  { email, role, accountId = null }: { email: string, role: StaffRole, accountId?: string | null }
) {
  return await db.transaction().execute(async (trx) => {
    const created = await trx.insertInto('staff').values({ email: email.toLowerCase(), role, account_id: accountId })
      .onConflict((conflict) => conflict.doNothing()).returning('id').executeTakeFirst()
    if (!created) throw new StaffExists()
    return { id: created.id, url: await createInvitation(trx, console, created.id) }
  })
}

/** @returns a link for the first administrator; undefined once any operator has a passkey */
export async function inviteFirstAdmin ({ db, console }: Pick<Deps, 'db' | 'console'>, email: string) {
  return await db.transaction().execute(async (trx) => {
    await lockStaff(trx)
    if (await trx.selectFrom('passkeys').select('id').limit(1).executeTakeFirst()) return
    const { id } = await trx.insertInto('staff').values({ email: email.toLowerCase(), role: 'ADMIN', account_id: null })
      .onConflict((conflict) => conflict.column('email').doUpdateSet({ role: 'ADMIN', disabled_at: null }))
      .returning('id').executeTakeFirstOrThrow()
    // A link that was made before works no longer.
    await trx.deleteFrom('staff_invitations').where('staff_id', '=', id).execute()
    return await createInvitation(trx, console, id)
  })
}

/** Removes the passkeys of an operator who has lost them, and invites them again. @throws StaffNotFound */
export async function reinviteStaff ({ db, console }: Pick<Deps, 'db' | 'console'>, id: string) {
  return await db.transaction().execute(async (trx) => {
    const staff = await trx.selectFrom('staff').where('id', '=', id).where('disabled_at', 'is', null).select('id')
      .forUpdate().executeTakeFirst()
    if (!staff) throw new StaffNotFound()
    await trx.deleteFrom('passkeys').where('staff_id', '=', id).execute()
    await trx.deleteFrom('staff_invitations').where('staff_id', '=', id).execute()
    await endStaffSessionsOf(trx, id)
    return { id, url: await createInvitation(trx, console, id) }
  })
}

async function lockStaff (trx: Trx) {
  await sql`select pg_advisory_xact_lock(hashtext(current_schema()), hashtext('staff'))`.execute(trx)
}

async function createInvitation (trx: Trx, console: Deps['console'], staffId: string) {
  const token = generateToken()
  await trx.insertInto('staff_invitations').values({
    digest: digestOfToken(token),
    staff_id: staffId,
    expires_at: sql<Date>`now() + ${INVITATION_LIFETIME}::interval`
  }).execute()
  // In the fragment, which browsers never send to a server.
  return `${console.origin}/enroll#${new URLSearchParams({ token }).toString()}`
}

/** Changes the role of another operator, or removes them. @throws StaffNotFound, LastAdmin, Forbidden */
export async function changeStaff (db: Db, operator: Operator | null, id: string, role: StaffRole | null) {
  if (operator?.id === id) throw new Forbidden()
  await db.transaction().execute(async (trx) => {
    // One after the other, so that two administrators cannot remove each other at once.
    await lockStaff(trx)
    const changed = await trx.updateTable('staff')
      .set(role ? { role, disabled_at: null } : { disabled_at: sql`now()` })
      .where('id', '=', id).returning('id').executeTakeFirst()
    if (!changed) throw new StaffNotFound()
    const admin = await trx.selectFrom('staff').where('role', '=', 'ADMIN').where('disabled_at', 'is', null)
      .select('id').limit(1).executeTakeFirst()
    if (!admin) throw new LastAdmin()
    await endStaffSessionsOf(trx, id)
  })
}

export const listStaff = async (db: Db) =>
  await db.selectFrom('staff')
    .select([
      'id',
      'email',
      'role',
      'account_id as accountId',
      'disabled_at as disabledAt',
      'created_at as createdAt',
      sql<number>`(select count(*) from passkeys where staff_id = staff.id)`.as('passkeys'),
      sql<Date | null>`(select max(last_used_at) from staff_sessions where staff_id = staff.id)`.as('lastSeenAt')
    ])
    .orderBy('id').limit(1_000).execute()

/** @throws StaffNotFound */
export async function findStaffId (db: Db, email: string) {
  const staff = await db.selectFrom('staff').where('email', '=', email.toLowerCase()).select('id').executeTakeFirst()
  if (!staff) throw new StaffNotFound()
  return staff.id
}
