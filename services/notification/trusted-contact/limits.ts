import { sql } from 'kysely'
import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import { deleteExpiredQuotas, deleteInChunks, useDailyQuota } from '@tandem/database-kit'
import { dayAround } from '@tandem/account-kit'
import { TooManyContactChanges, TooManyContactRequests } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { addressDigest, pairDigest } from './tokens.ts'

const CHANGES_PER_DAY = 3
const REQUESTS_PER_PAIR = 3
const WINDOW = sql.lit('30 days')

/** Uses one of the account's changes of a day. The account's changes run one after the other from here on. */
export async function useContactChange (trx: Trx, accountId: string, now: Date) {
  const person = await trx.selectFrom('people').where('account_id', '=', accountId).select('timezone')
    .executeTakeFirst()
  const day = dayAround(person?.timezone ?? DEFAULT_TIMEZONE, now)
  const quota = { name: 'trusted contact changes', accountId, day, limit: CHANGES_PER_DAY }
  if (await useDailyQuota(trx, quota) === undefined) throw new TooManyContactChanges()
}

/**
 * Uses one of an account's requests to an address. Requests of other accounts do not count, or strangers could keep
 * somebody from being asked by their own people. It is one statement, so the limit is exact.
 */
export async function useContactRequest (trx: Trx, accountId: string, email: string, now: Date) {
  const { rows } = await sql`
    insert into trusted_contact_requests as address (address_digest, requested_at, last_at)
    values (${pairDigest(accountId, email)}, array[${now}::timestamptz], ${now})
    on conflict (address_digest) do update set last_at = excluded.last_at, requested_at = excluded.last_at || array(
        select requested from unnest(address.requested_at) as requested
        where requested > excluded.last_at - interval ${WINDOW})
      where (select count(*) from unnest(address.requested_at) as requested
        where requested > excluded.last_at - interval ${WINDOW}) < ${REQUESTS_PER_PAIR}
    returning last_at`.execute(trx)
  if (rows.length === 0) throw new TooManyContactRequests()
}

/** Whether an address has refused this account. */
export async function hasRefused (trx: Trx, accountId: string, email: string) {
  const refusal = await trx.selectFrom('trusted_contact_refusals').where('account_id', '=', accountId)
    .where('address_digest', '=', addressDigest(email)).select('account_id').executeTakeFirst()
  return refusal !== undefined
}

/** Deletes what no longer counts. */
export async function deleteExpiredLimits (db: Db) {
  await deleteExpiredQuotas(db)
  await deleteInChunks(db, 'trusted_contact_requests', sql`last_at < now() - interval ${WINDOW} order by last_at`)
}
