import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../tables.ts'

const MESSAGES_PER_MINUTE = 60

/**
 * Uses one of the minute's messages for the row of `from`, as one part of a statement. It returns no row if none is left.
 * The minute starts with the first message.
 */
export const insertMessageUse = (accountId: string, from: RawBuilder<unknown>) =>
  sql`
  insert into message_quota as quota (account_id, window_started_at, used)
  select ${accountId}::uuid, clock_timestamp(), 1 from ${from}
  on conflict (account_id) do update set
    used = case when quota.window_started_at <= clock_timestamp() - interval '1 minute' then 1
      else quota.used + 1 end,
    window_started_at = case when quota.window_started_at <= clock_timestamp() - interval '1 minute'
      then clock_timestamp() else quota.window_started_at end
    where quota.used < ${sql.lit(MESSAGES_PER_MINUTE)}
      or quota.window_started_at <= clock_timestamp() - interval '1 minute'
  returning used`

/** Seconds until the account can send again; undefined if it can now. */
export async function retryAfterSeconds (db: Db, accountId: string) {
  const quota = await db.selectFrom('message_quota').where('account_id', '=', accountId)
    .where('used', '>=', MESSAGES_PER_MINUTE)
    .where('window_started_at', '>', sql<Date>`clock_timestamp() - interval '1 minute'`)
    .select(
      sql<number>`ceil(extract(epoch from window_started_at + interval '1 minute' - clock_timestamp()))::int`.as(
        'seconds'
      )
    )
    .executeTakeFirst()
  return quota && Math.max(1, quota.seconds)
}
