import { sql } from 'kysely'
import { RateLimited } from '@tandem/http-kit'
import { deleteInChunks } from '@tandem/database-kit'
import { settleEach } from '@tandem/process-kit'
import type { Db } from './tables.ts'

/** How many attempts an account has, by the table that counts them. A window is an interval of Postgres. */
const LIMITS = {
  password_change_attempts: { limit: 5, window: '1 hour' },
  proof_attempts: { limit: 5, window: '15 minutes' },
  email_change_attempts: { limit: 5, window: '1 day' }
}
type AttemptTable = keyof typeof LIMITS

/**
 * Counts one attempt of an account, right or wrong. It is one statement, so concurrent attempts cannot exceed the limit.
 * @throws RateLimited
 */
export async function claimAttempt (db: Db, table: AttemptTable, accountId: string) {
  const { limit, window } = LIMITS[table]
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

/** Deletes what no longer counts. */
export async function deleteOldAttempts (db: Db) {
  await settleEach(
    Object.entries(LIMITS),
    async ([table, { window }]) =>
      await deleteInChunks(
        db,
        // Object.entries takes keys for any text.
        table as AttemptTable,
        sql`last_attempted_at < now() - ${window}::interval order by last_attempted_at`
      )
  )
}
