import { sql, type RawBuilder } from 'kysely'
import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import { deleteExpiredQuotas, deleteInChunks, useDailyQuota } from '@tandem/database-kit'
import { dayAround } from '@tandem/account-kit'
import { ContactAskedTooOften, TooManyContactChanges, TooManyContactRequests } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { addressDigest, pairDigest } from './tokens.ts'

const CHANGES_PER_DAY = 3
const REQUESTS_PER_PAIR = 3
const REQUESTS_TO_ADDRESS_PER_DAY = 20
const WINDOW = sql.lit('30 days')

/** From here on, the account's changes run one after the other: one that is sent twice finds the first. */
export async function lockContactChanges (trx: Trx, accountId: string) {
  await sql`select pg_advisory_xact_lock(hashtextextended('trusted contact of ' || ${accountId}, 0))`.execute(trx)
}

/** Uses one of the account's changes of a day. */
export async function useContactChange (trx: Trx, accountId: string, now: Date) {
  const person = await trx.selectFrom('people').where('account_id', '=', accountId).select('timezone')
    .executeTakeFirst()
  const day = dayAround(person?.timezone ?? DEFAULT_TIMEZONE, now)
  const quota = { name: 'trusted contact changes', accountId, day, limit: CHANGES_PER_DAY }
  if (await useDailyQuota(trx, quota) === undefined) throw new TooManyContactChanges()
}

/**
 * Uses one of an account's requests to an address, and one of all that an address gets in a day. The first does not count
 * what others ask, or strangers could keep somebody from being asked by their own people. The second is high for the same
 * reason: without it, many accounts could fill a stranger's mailbox.
 * @throws TooManyContactRequests, ContactAskedTooOften
 */
export async function useContactRequest (trx: Trx, accountId: string, email: string, now: Date) {
  const ofPair = { limit: REQUESTS_PER_PAIR, window: WINDOW }
  if (!await useRequest(trx, pairDigest(accountId, email), now, ofPair)) throw new TooManyContactRequests()
  const ofAddress = { limit: REQUESTS_TO_ADDRESS_PER_DAY, window: sql.lit('1 day') }
  if (!await useRequest(trx, addressDigest(email), now, ofAddress)) throw new ContactAskedTooOften()
}

/** It is one statement, so the limit is exact. @returns false if none is left */
async function useRequest (
  trx: Trx,
  digest: Buffer,
  now: Date,
  { limit, window }: { limit: number, window: RawBuilder<unknown> }
) {
  const recent = sql`(
    select requested from unnest(address.requested_at) as requested
    where requested > excluded.last_at - interval ${window})`
  const { rows } = await sql`
    insert into trusted_contact_requests as address (address_digest, requested_at, last_at)
    values (${digest}, array[${now}::timestamptz], ${now})
    on conflict (address_digest) do update
      set last_at = excluded.last_at, requested_at = excluded.last_at || array${recent}
      where (select count(*) from ${recent} recent) < ${limit}
    returning last_at`.execute(trx)
  return rows.length > 0
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
