import { defineError, serializeByKey, Unavailable } from '@tandem/process-kit'
import { sql, type Kysely, type Transaction } from 'kysely'
import { deleteInChunks } from './delete-in-chunks.ts'
import { isLockTimeout } from './refusals.ts'

export interface IdempotencyTables {
  idempotency_keys: { account_id: string, key: string, request_digest: string, response: unknown }
}

/** A request that its client can repeat: the key that the client chose, and a digest of the request. */
export interface IdempotencyKey {
  accountId: string
  key: string
  requestDigest: string
}

export const IdempotencyConflict = defineError('IDEMPOTENCY_CONFLICT', 409)

const KEY_LIFETIME = '24 hours'

// Repeats in the same process wait here, where they hold no connection: a pool has five.
const inTurn = serializeByKey({ maxWaiting: 50, createError: () => new Unavailable() })

// Repeats in another process wait for the row of the key, for as long as Postgres lets them wait for a lock.
const MAX_LOCK_WAITS = 3

/**
 * Runs `work` in a transaction, and only once for a key within 24 hours: a repeat gets the first response.
 * The key is stored in the same transaction as the work, so neither exists without the other, and a repeat at the same
 * time waits for the first, up to three seconds if that runs in another process. Without a key it is a plain
 * transaction.
 * @param work must return a value that JSON can represent
 * @throws IdempotencyConflict when the key was used for another request
 */
export async function withIdempotencyKey<Tables extends IdempotencyTables, Response> (
  db: Kysely<Tables>,
  idempotencyKey: IdempotencyKey | undefined,
  work: (trx: Transaction<Tables>) => Promise<Response>
): Promise<Response> {
  if (!idempotencyKey) return await db.transaction().execute(work)
  const { accountId, key } = idempotencyKey
  return await inTurn(`${accountId} ${key}`, async () => {
    for (let waits = 1;; waits++) {
      try {
        return await db.transaction().execute((trx) => runOnce(trx, idempotencyKey, work))
      } catch (error) {
        if (!(error instanceof FirstStillRuns)) throw error
        if (waits === MAX_LOCK_WAITS) throw error.cause
      }
    }
  })
}

/**
 * Whether a request was already done. What is asked, or copied, before a change is not asked again: the repeat changes
 * nothing. @throws IdempotencyConflict
 */
export async function isRepeat (db: Kysely<IdempotencyTables>, idempotencyKey: IdempotencyKey | undefined) {
  if (!idempotencyKey) return false
  const { accountId, key, requestDigest } = idempotencyKey
  const { rows: [first] } = await sql<{ isSame: boolean }>`
    select request_digest = ${requestDigest} as "isSame" from idempotency_keys
    where account_id = ${accountId} and key = ${key} and created_at > now() - ${KEY_LIFETIME}::interval`.execute(db)
  if (first && !first.isSame) throw new IdempotencyConflict()
  return first !== undefined
}

class FirstStillRuns extends Error {}

async function runOnce<Tables extends IdempotencyTables, Response> (
  trx: Transaction<Tables>,
  { accountId, key, requestDigest }: IdempotencyKey,
  work: (trx: Transaction<Tables>) => Promise<Response>
) {
  const first = await sql`
    insert into idempotency_keys (account_id, key, request_digest) values (${accountId}, ${key}, ${requestDigest})
    on conflict (account_id, key) do update set request_digest = excluded.request_digest, response = null, created_at = now()
      where idempotency_keys.created_at < now() - ${KEY_LIFETIME}::interval
    returning key`.execute(trx).catch((error: unknown) => {
    throw isLockTimeout(error) ? new FirstStillRuns(undefined, { cause: error }) : error
  })
  if (first.rows.length === 0) {
    const earlier = await sql<{ requestDigest: string, response: Response }>`
      select request_digest as "requestDigest", response from idempotency_keys where account_id = ${accountId} and key = ${key}`
      .execute(trx)
    const [row] = earlier.rows
    if (row?.requestDigest !== requestDigest) throw new IdempotencyConflict()
    return row.response
  }

  const response = await work(trx)
  await sql`update idempotency_keys set response = ${
    JSON.stringify(response)
  } where account_id = ${accountId} and key = ${key}`.execute(trx)
  return response
}

/** Deletes keys that have expired and can be reused. */
export const deleteExpiredIdempotencyKeys = async (db: Kysely<IdempotencyTables>) =>
  await deleteInChunks(
    db,
    'idempotency_keys',
    sql`created_at < now() - ${KEY_LIFETIME}::interval order by created_at`
  )
