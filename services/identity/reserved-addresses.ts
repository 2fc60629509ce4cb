import { sql } from 'kysely'
import type { Db } from './tables.ts'

/** Whether the address of an account has changed, and the change can still be taken back. */
export async function canAddressBeReverted (db: Db, accountId: string) {
  const revert = await db.selectFrom('email_reverts').where('account_id', '=', accountId)
    .where('expires_at', '>', sql<Date>`clock_timestamp()`).select('account_id').limit(1).executeTakeFirst()
  return revert !== undefined
}

/**
 * Whether an account changed away from this address and can still take that back. Nobody else can use the address
 * meanwhile: a thief could otherwise register it, and so prevent the owner's return.
 */
export async function isAddressReserved (db: Db, email: string, exceptAccountId?: string) {
  const reserved = await db.selectFrom('email_reverts').where('old_email', '=', email)
    .where('expires_at', '>', sql<Date>`now()`)
    .$if(exceptAccountId !== undefined, (query) => query.where('account_id', '<>', exceptAccountId ?? ''))
    .select('account_id').limit(1).executeTakeFirst()
  return reserved !== undefined
}
