import { sql } from 'kysely'
import { RateLimited } from '@tandem/http-kit'
import type { Db } from './tables.ts'

interface AttemptLimit {
  /** The table that counts, by account. */
  table: 'password_change_attempts' | 'proof_attempts' | 'email_change_attempts'
  accountId: string
  limit: number
  /** An interval of Postgres. */
  window: string
}

/**
 * Counts one attempt of an account, right or wrong. It is one statement, so concurrent attempts cannot exceed the limit.
 * @throws RateLimited
 */
export async function claimAttempt (db: Db, { table, accountId, limit, window }: AttemptLimit) {
  const recent = sql`select attempt from unnest(known.attempted_at) attempt where attempt > now() - ${window}::interval`
  const { rows: [claimed] } = await sql`
    insert into ${sql.table(table)} as known (account_id, attempted_at, last_attempted_at)
    values (${accountId}, array[now()], now())
    on conflict (account_id) do update set attempted_at = array(${recent}) || now(), last_attempted_at = now()
      where (select count(*) from (${recent}) recent) < ${limit}::int
    returning account_id`.execute(db)
  if (claimed) return

  const { rows: [wait] } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from min(attempt) + ${window}::interval - now()))::int as seconds
    from ${sql.table(table)} known, unnest(attempted_at) attempt
    where account_id = ${accountId} and attempt > now() - ${window}::interval`.execute(db)
  throw new RateLimited(Math.max(1, wait?.seconds ?? 1))
}
