import { randomInt, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Purpose, Trx } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { TRIES_OF_A_CODE } from './queries.ts'

const TRIES_OF_A_DAY = 20
const LIFETIME: Record<Purpose, string> = { VERIFY: '24 hours', SIGN_IN: '10 minutes' }

export const makeCode = () => String(randomInt(1_000_000)).padStart(6, '0')

interface NewCode { accountId: string, purpose: Purpose, code: string }

/** Makes `code` the one that counts; an earlier one is void. */
export async function storeCode (trx: Trx, secrets: Secrets, { accountId, purpose, code }: NewCode) {
  const fresh = {
    digest: digestOf(secrets, accountId, purpose, code),
    tries: 0,
    expires_at: sql<Date>`now() + ${LIFETIME[purpose]}::interval`
  }
  await trx.insertInto('codes').values({ account_id: accountId, purpose, ...fresh })
    .onConflict((conflict) => conflict.columns(['account_id', 'purpose']).doUpdateSet(fresh))
    .execute()
}

/**
 * Compares a code, of which at most 5 tries a code and 20 a day are compared, and takes it if it is right.
 * The caller holds the account's row and commits whatever comes out, so that tries at once are counted one after the other,
 * and each before anybody learns what it was worth.
 * @returns whether it was right
 */
export async function takeCode (trx: Trx, secrets: Secrets, { accountId, purpose, code }: NewCode) {
  const counted = await trx.updateTable('codes').set({ tries: sql`tries + 1` })
    .where('account_id', '=', accountId)
    .where('purpose', '=', purpose)
    .where('tries', '<', TRIES_OF_A_CODE)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('digest')
    .executeTakeFirst()
  if (!counted || !await countTryOfToday(trx, accountId)) return false

  if (!timingSafeEqual(counted.digest, digestOf(secrets, accountId, purpose, code))) return false
  await trx.deleteFrom('codes').where('account_id', '=', accountId).where('purpose', '=', purpose).execute()
  return true
}

async function countTryOfToday (trx: Trx, accountId: string) {
  const { rows } = await sql`
    insert into code_tries (account_id, day, tries) values (${accountId}, (now() at time zone 'utc')::date, 1)
    on conflict (account_id, day) do update set tries = code_tries.tries + 1 where code_tries.tries < ${TRIES_OF_A_DAY}::int
    returning tries`.execute(trx)
  return rows.length > 0
}

const digestOf = (secrets: Secrets, accountId: string, purpose: Purpose, code: string) => secrets.digest('code', accountId, purpose, code)
