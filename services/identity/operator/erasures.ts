import { sql } from 'kysely'
import { lockAccount } from '../accounts/queries.ts'
import { ErasureNotFound, UserNotFound } from '../errors.ts'
import { scheduleErasure } from '../erasures/actions.ts'
import { findErasure } from '../erasures/queries.ts'
import type { Db, Trx } from '../tables.ts'

const LONGEST_HOLD_DAYS = 365

/** The erasures that are not closed, the ones that are due first on top. */
export async function listErasures (db: Db) {
  return await db.selectFrom('erasures').where('status', 'in', ['SCHEDULED', 'HELD', 'RUNNING', 'ERASED'])
    .select([
      'id',
      'account_id as accountId',
      'status',
      'cause',
      'erase_at as eraseAt',
      'hold_reason as holdReason',
      'held_until as heldUntil'
    ])
    .orderBy('erase_at').limit(100).execute()
}

/** An erasure with what each service confirmed. @throws ErasureNotFound */
export async function showErasure (db: Db, id: string) {
  const erasure = await findErasure(db, id)
  if (!erasure) throw new ErasureNotFound()
  const { confirmations, ...fields } = erasure
  return [fields, ...confirmations.map(({ rows, ...rest }) => ({ ...rest, rows: JSON.stringify(rows) }))]
}

/** Schedules the erasure of an account, with the grace period. @throws UserNotFound, DeletionPending */
export const requestErasure = async (db: Db, by: { email: string }, graceDays: number) =>
  await db.transaction().execute(async (trx) => await scheduleFor(trx, by, graceDays))

/** In the caller's transaction. @throws UserNotFound, DeletionPending */
export async function scheduleFor (trx: Trx, by: { id: string } | { email: string }, graceDays: number) {
  const account = await lockAccount(trx, by)
  if (!account) throw new UserNotFound()
  return await scheduleErasure(trx, account, { cause: 'OPERATOR', graceDays })
}

export interface Hold {
  reason: string
  days: number
}

/** Stops an erasure that has not begun, for at most a year. The person stays hidden. @throws ErasureNotFound */
export async function holdErasure (db: Db, id: string, { reason, days }: Hold) {
  const held = await db.updateTable('erasures')
    .set({
      status: 'HELD',
      hold_reason: reason,
      held_until: sql`now() + make_interval(days => ${Math.min(days, LONGEST_HOLD_DAYS)})`
    })
    .where('id', '=', id).where('status', 'in', ['SCHEDULED', 'HELD']).where('begun_at', 'is', null)
    .returning('id').executeTakeFirst()
  if (!held) throw new ErasureNotFound()
}

/** Ends a hold: the erasure goes on, at once if it is due. @throws ErasureNotFound */
export async function releaseErasure (db: Db, id: string) {
  const released = await db.updateTable('erasures').set({ status: 'SCHEDULED', held_until: null })
    .where('id', '=', id).where('status', '=', 'HELD').returning('id').executeTakeFirst()
  if (!released) throw new ErasureNotFound()
}
