import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Trx } from '../tables.ts'

const LIFETIME = '1 hour'

interface Link { email: string, token: string }

export const makeResetToken = () => randomBytes(32).toString('base64url')

/** Makes `token` the one that counts; an earlier link is void. */
export async function storeReset (trx: Trx, accountId: string, token: string) {
  const fresh = { digest: digestOf(token), expires_at: sql<Date>`now() + ${LIFETIME}::interval` }
  await trx.insertInto('password_resets').values({ account_id: accountId, ...fresh })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(fresh))
    .execute()
}

/** Whether a link from a mail is still good. */
export async function isResetValid (db: Db, { email, token }: Link) {
  const reset = await db.selectFrom('password_resets').innerJoin('accounts', 'accounts.id', 'account_id')
    .where('email', '=', email)
    .where('digest', '=', digestOf(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .select('account_id')
    .executeTakeFirst()
  return reset !== undefined
}

/** Uses a link, which is good once. */
export async function takeReset (trx: Trx, accountId: string, token: string) {
  const taken = await trx.deleteFrom('password_resets')
    .where('account_id', '=', accountId)
    .where('digest', '=', digestOf(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('account_id')
    .executeTakeFirst()
  return taken !== undefined
}

// The token is 256 random bits, so a plain digest is enough to know it by.
const digestOf = (token: string) => createHash('sha256').update(token).digest()
