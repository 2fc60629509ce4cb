import { sql } from 'kysely'
import type { StaffRole } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { LastAdmin, StaffExists, StaffNotFound } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { createInvitation, notifyAdmins, writeOperatorMail, type Invited } from './invitations.ts'
import { endStaffSessionsOf } from './sessions.ts'

type ShellDeps = Pick<Deps, 'db' | 'console'>

/** Changes of operators happen one after the other, so that two cannot both find that they are allowed. */
export async function lockStaff (trx: Trx) {
  await sql`select pg_advisory_xact_lock(hashtext(current_schema()), hashtext('staff'))`.execute(trx)
}

/** @throws StaffExists */
export async function insertStaff (
  trx: Trx,
  { email, role, accountId = null }: { email: string, role: StaffRole, accountId?: string | null | undefined }
): Promise<Invited> {
  const created = await trx.insertInto('staff').values({ email, role, account_id: accountId })
    .onConflict((conflict) => conflict.doNothing()).returning(['id', 'email', 'role']).executeTakeFirst()
  if (!created) throw new StaffExists()
  return created
}

/** For the shell. @throws StaffExists @returns the link to add a passkey */
export async function inviteInShell (deps: ShellDeps, { email, role }: { email: string, role: StaffRole }) {
  return await deps.db.transaction().execute(async (trx) => {
    await lockStaff(trx)
    return await createLink(trx, deps, await insertStaff(trx, { email: email.toLowerCase(), role }))
  })
}

/** For the shell: a new link for an operator who has lost their passkey. @throws StaffNotFound */
export async function reinviteInShell (deps: ShellDeps, email: string) {
  return await deps.db.transaction().execute(async (trx) => {
    await lockStaff(trx)
    return await createLink(trx, deps, await readInvitable(trx, await findStaffId(trx, email)))
  })
}

async function createLink (trx: Trx, { console }: ShellDeps, invited: Invited) {
  const url = await createInvitation(trx, console, invited.id, null)
  await notifyAdmins(trx, writeOperatorMail('operatorInvited', null, invited))
  return url
}

/** @returns a link for the first administrator; undefined once any operator has a passkey */
export async function inviteFirstAdmin ({ db, console }: ShellDeps, email: string) {
  return await db.transaction().execute(async (trx) => {
    await lockStaff(trx)
    if (await trx.selectFrom('passkeys').select('id').limit(1).executeTakeFirst()) return
    const { id } = await trx.insertInto('staff').values({ email: email.toLowerCase(), role: 'ADMIN', account_id: null })
      .onConflict((conflict) => conflict.column('email').doUpdateSet({ role: 'ADMIN', disabled_at: null }))
      .returning('id').executeTakeFirstOrThrow()
    return await createInvitation(trx, console, id, null)
  })
}

/** For the shell. @throws StaffNotFound, LastAdmin */
export async function removeInShell (db: Db, email: string) {
  await db.transaction().execute(async (trx) => {
    await lockStaff(trx)
    await setStaffRole(trx, await findStaffId(trx, email), null)
  })
}

/** Changes the role of an operator, also of a removed one, or removes them. @throws StaffNotFound, LastAdmin */
export async function setStaffRole (trx: Trx, id: string, role: StaffRole | null) {
  const changed = await trx.updateTable('staff')
    .set(role ? { role, disabled_at: null } : { disabled_at: sql`now()` })
    .where('id', '=', id).returning('id').executeTakeFirst()
  if (!changed) throw new StaffNotFound()
  const admin = await trx.selectFrom('staff').where('role', '=', 'ADMIN').where('disabled_at', 'is', null)
    .select('id').limit(1).executeTakeFirst()
  if (!admin) throw new LastAdmin()
  await endStaffSessionsOf(trx, id)
}

/** @throws StaffNotFound */
export async function readStaff (db: Db, id: string) {
  const staff = await db.selectFrom('staff').where('id', '=', id)
    .select([
      'id',
      'email',
      'role',
      sql<boolean>`disabled_at is not null`.as('isDisabled'),
      sql<boolean>`exists (select from passkeys where staff_id = staff.id)`.as('hasPasskey')
    ])
    .executeTakeFirst()
  if (!staff) throw new StaffNotFound()
  return staff
}

/** An operator who can be invited again. @throws StaffNotFound also for a removed one */
export async function readInvitable (db: Db, id: string) {
  const staff = await readStaff(db, id)
  if (staff.isDisabled) throw new StaffNotFound()
  return staff
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
async function findStaffId (db: Db, email: string) {
  const staff = await db.selectFrom('staff').where('email', '=', email.toLowerCase()).select('id').executeTakeFirst()
  if (!staff) throw new StaffNotFound()
  return staff.id
}
