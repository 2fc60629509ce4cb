import { sql } from 'kysely'
import { RateLimited } from '@tandem/http-kit'
import type { Db } from '../tables.ts'

const MAX_ATTEMPTS = 5

/**
 * Counts one attempt to change the password of an account, right or wrong. An account has five an hour.
 * @throws RateLimited
 */
export async function claimPasswordChange (db: Db, accountId: string) {
  const recent = sql`select attempt from unnest(known.attempted_at) attempt where attempt > now() - interval '1 hour'`
  const { rows: [claimed] } = await sql`
    insert into password_change_attempts as known (account_id, attempted_at, last_attempted_at)
    values (${accountId}, array[now()], now())
    on conflict (account_id) do update set attempted_at = array(${recent}) || now(), last_attempted_at = now()
      where (select count(*) from (${recent}) recent) < ${MAX_ATTEMPTS}::int
    returning account_id`.execute(db)
  if (claimed) return

  const { rows: [wait] } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from min(attempt) + interval '1 hour' - now()))::int as seconds
    from password_change_attempts known, unnest(attempted_at) attempt
    where account_id = ${accountId} and attempt > now() - interval '1 hour'`.execute(db)
  throw new RateLimited(Math.max(1, wait?.seconds ?? 1))
}
