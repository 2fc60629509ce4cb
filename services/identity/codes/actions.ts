import { timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import { LIFETIMES } from '../lifetimes.ts'
import type { PublicPurpose, Purpose, Trx } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { findOpenCode, MAX_ATTEMPTS_PER_CODE } from './queries.ts'

interface Entered {
  accountId: string
  purpose: Purpose
  code: string
}

/** Stores `code` as the current one. It replaces an earlier one. `network` is where a public code was requested. */
export async function storeCode (
  trx: Trx,
  secrets: Secrets,
  { accountId, purpose, code, network }: Entered & { network?: string | undefined }
) {
  const stored = {
    digest: digestOf(secrets, { accountId, purpose, code }),
    attempts: 0,
    network: network ?? null,
    expires_at: sql<Date>`now() + ${LIFETIMES[purpose]}::interval`
  }
  await trx.insertInto('codes').values({ account_id: accountId, purpose, ...stored })
    .onConflict((conflict) => conflict.columns(['account_id', 'purpose']).doUpdateSet(stored))
    .execute()
}

/**
 * Compares a code of a caller who is signed in, and deletes it if it is correct. At most 5 attempts are compared.
 * The caller holds the lock of the account and commits in either case, so concurrent attempts are counted one after the
 * other, and each is counted before its result is known.
 * @returns whether it was correct
 */
export async function redeemCode (trx: Trx, secrets: Secrets, entered: Entered) {
  const counted = await trx.updateTable('codes').set({ attempts: sql`attempts + 1` })
    .where('account_id', '=', entered.accountId)
    .where('purpose', '=', entered.purpose)
    .where('attempts', '<', MAX_ATTEMPTS_PER_CODE)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('digest')
    .executeTakeFirst()
  if (!counted || !timingSafeEqual(counted.digest, digestOf(secrets, entered))) return false
  await deleteCode(trx, entered)
  return true
}

/**
 * `redeemCode` for a caller who is not signed in, within the attempts of their network. Only wrong codes count.
 * @returns whether it was correct
 */
export async function redeemPublicCode (
  trx: Trx,
  secrets: Secrets,
  { network, ...entered }: Entered & { purpose: PublicPurpose, network: string }
) {
  const { accountId, purpose } = entered
  const open = await findOpenCode(trx, { accountId, purpose, network })
  if (!open) return false
  if (timingSafeEqual(open.digest, digestOf(secrets, entered))) {
    await deleteCode(trx, entered)
    return true
  }
  await trx.insertInto('wrong_codes')
    .values({ account_id: accountId, code_digest: open.digest, network: open.countedNetwork, is_known: open.isKnown })
    .execute()
  return false
}

/** Deletes the code of a purpose, and the links that were mailed with it and before it. */
export async function deleteCode (trx: Trx, { accountId, purpose }: Pick<Entered, 'accountId' | 'purpose'>) {
  await trx.deleteFrom('codes').where('account_id', '=', accountId).where('purpose', '=', purpose).execute()
}

const digestOf = (secrets: Secrets, { accountId, purpose, code }: Entered) =>
  secrets.digest('code', accountId, purpose, code)
