import { randomInt, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import { LIFETIMES } from '../lifetimes.ts'
import type { Purpose, Trx } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { MAX_ATTEMPTS_PER_CODE } from './queries.ts'

const MAX_ATTEMPTS_PER_DAY = 20

export const generateCode = () => String(randomInt(1_000_000)).padStart(6, '0')

interface NewCode {
  accountId: string
  purpose: Purpose
  code: string
}

/** Stores `code` as the current one. It replaces an earlier one. */
export async function storeCode (trx: Trx, secrets: Secrets, { accountId, purpose, code }: NewCode) {
  const stored = {
    digest: digestOf(secrets, accountId, purpose, code),
    attempts: 0,
    expires_at: sql<Date>`now() + ${LIFETIMES[purpose]}::interval`
  }
  await trx.insertInto('codes').values({ account_id: accountId, purpose, ...stored })
    .onConflict((conflict) => conflict.columns(['account_id', 'purpose']).doUpdateSet(stored))
    .execute()
}

/**
 * Compares a code, and deletes it if it is correct. At most 5 attempts per code are compared, and 20 per day of callers
 * who are not signed in.
 * The caller holds the lock of the account and commits in either case, so concurrent attempts are counted one after the
 * other, and each is counted before its result is known.
 * @returns whether it was correct
 */
export async function redeemCode (trx: Trx, secrets: Secrets, { accountId, purpose, code }: NewCode) {
  const counted = await trx.updateTable('codes').set({ attempts: sql`attempts + 1` })
    .where('account_id', '=', accountId)
    .where('purpose', '=', purpose)
    .where('attempts', '<', MAX_ATTEMPTS_PER_CODE)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('digest')
    .executeTakeFirst()
  if (!counted) return false
  // Anybody can guess at these. Guesses of a caller who is signed in must not use up the day's attempts.
  const isPublic = purpose === 'VERIFY' || purpose === 'SIGN_IN'
  if (isPublic && !await countDailyAttempt(trx, accountId)) return false

  if (!timingSafeEqual(counted.digest, digestOf(secrets, accountId, purpose, code))) return false
  await trx.deleteFrom('codes').where('account_id', '=', accountId).where('purpose', '=', purpose).execute()
  return true
}

async function countDailyAttempt (trx: Trx, accountId: string) {
  const { rows } = await sql`
    insert into code_attempts (account_id, day, attempts) values (${accountId}, (now() at time zone 'utc')::date, 1)
    on conflict (account_id, day) do update set attempts = code_attempts.attempts + 1
      where code_attempts.attempts < ${MAX_ATTEMPTS_PER_DAY}::int
    returning attempts`.execute(trx)
  return rows.length > 0
}

const digestOf = (secrets: Secrets, accountId: string, purpose: Purpose, code: string) =>
  secrets.digest('code', accountId, purpose, code)
