import createError from '@fastify/error'
import { sql, type Kysely, type Transaction } from 'kysely'

export interface IdempotencyTables {
  idempotency_keys: { account_id: string, key: string, request: string, answer: unknown }
}

/** One request that its client may send again: the key it chose, and a digest of what it asked. */
export interface IdempotencyKey { accountId: string, key: string, requestDigest: string }

export const IdempotencyConflict = createError('IDEMPOTENCY_CONFLICT', 'This idempotency key was used for another request', 409)

const REMEMBERED_FOR = '24 hours'

/**
 * Runs `work` in a transaction, and only once for a key within 24 hours: a repeat gets the first answer.
 * The key is spent in the same transaction as the work, so neither is ever kept without the other, and of two
 * repeats at once the second waits for the first. Without a key it is a plain transaction.
 * @param work must return what JSON can hold
 * @throws IdempotencyConflict when the key was used for another request
 */
export async function withIdempotencyKey<Tables extends IdempotencyTables, Answer> (
  db: Kysely<Tables>, spent: IdempotencyKey | undefined, work: (trx: Transaction<Tables>) => Promise<Answer>
): Promise<Answer> {
  return await db.transaction().execute(async (trx) => {
    if (!spent) return await work(trx)
    const { accountId, key, requestDigest } = spent

    const first = await sql`
      insert into idempotency_keys (account_id, key, request) values (${accountId}, ${key}, ${requestDigest})
      on conflict (account_id, key) do update set request = excluded.request, answer = null, created_at = now()
        where idempotency_keys.created_at < now() - ${REMEMBERED_FOR}::interval
      returning key`.execute(trx)
    if (first.rows.length === 0) {
      const earlier = await sql<{ request: string, answer: Answer }>`
        select request, answer from idempotency_keys where account_id = ${accountId} and key = ${key}`.execute(trx)
      const [row] = earlier.rows
      if (row?.request !== requestDigest) throw new IdempotencyConflict()
      return row.answer
    }

    const answer = await work(trx)
    await sql`update idempotency_keys set answer = ${JSON.stringify(answer)} where account_id = ${accountId} and key = ${key}`.execute(trx)
    return answer
  })
}

/** Forgets the keys that may be used anew. */
export async function deleteExpiredIdempotencyKeys<Tables extends IdempotencyTables> (db: Kysely<Tables>) {
  await sql`delete from idempotency_keys where created_at < now() - ${REMEMBERED_FOR}::interval`.execute(db)
}
