import { sql } from 'kysely'
import { RateLimited } from '@tandem/http-kit'
import type { Db, Trx } from '../tables.ts'

const MESSAGES_PER_MINUTE = 60

/** Uses one of the minute's messages. The minute starts with the first message. @throws RateLimited */
export async function useMessage (trx: Trx, accountId: string) {
  const isOver = sql<boolean>`recent.window_started_at <= clock_timestamp() - interval '1 minute'`
  const { rows: [used] } = await sql`
    insert into message_quota as recent (account_id, window_started_at, used)
    values (${accountId}, clock_timestamp(), 1)
    on conflict (account_id) do update set
      used = case when ${isOver} then 1 else recent.used + 1 end,
      window_started_at = case when ${isOver} then clock_timestamp() else recent.window_started_at end
      where recent.used < ${sql.lit(MESSAGES_PER_MINUTE)} or ${isOver}
    returning used`.execute(trx)
  if (!used) throw new RateLimited(await retryAfterSeconds(trx, accountId) ?? 1)
}

/** Seconds until the account can send again; undefined if it can now. */
export async function retryAfterSeconds (db: Db, accountId: string) {
  const full = await db.selectFrom('message_quota').where('account_id', '=', accountId)
    .where('used', '>=', MESSAGES_PER_MINUTE)
    .where('window_started_at', '>', sql<Date>`clock_timestamp() - interval '1 minute'`)
    .select(
      sql<number>`ceil(extract(epoch from window_started_at + interval '1 minute' - clock_timestamp()))::int`.as(
        'seconds'
      )
    )
    .executeTakeFirst()
  return full && Math.max(1, full.seconds)
}
