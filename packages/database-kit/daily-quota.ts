import { sql, type Kysely } from 'kysely'
import { deleteInChunks } from './delete-in-chunks.ts'

export interface DailyQuotaTables {
  daily_quotas: { account_id: string, name: string, used: number, ends_at: Date }
}

interface DailyQuota {
  /** What is counted, such as `swipes`. */
  name: string
  accountId: string
  /** The current calendar day in the account's own time zone. */
  day: { startsAt: Date, endsAt: Date }
}

/**
 * Uses `amount` of the day's `limit`, all or none, and returns how many are now used, or undefined if too few are left.
 * It is one statement, so concurrent requests cannot all take the last one. In a transaction the row stays locked until
 * its end.
 *
 * A day that was used goes on until it ends in the time zone in which it began, and then until the next midnight of the
 * current time zone. So changing the time zone never gives a second day within 24 hours.
 */
export async function useDailyQuota<Tables extends DailyQuotaTables> (
  db: Kysely<Tables>,
  { name, accountId, day: { startsAt, endsAt }, limit, amount = 1 }: DailyQuota & { limit: number, amount?: number }
) {
  if (limit < amount) return
  const isOver = sql`quota.ends_at <= ${startsAt}`
  const { rows } = await sql<{ used: number }>`
    insert into daily_quotas as quota (account_id, name, used, ends_at)
    values (${accountId}, ${name}, ${amount}, ${endsAt})
    on conflict (account_id, name) do update set
      used = case when ${isOver} then excluded.used else quota.used + excluded.used end,
      ends_at = case when ${isOver} then excluded.ends_at else quota.ends_at end
      where ${isOver} or quota.used + excluded.used <= ${limit}
    returning used`.execute(db)
  return rows[0]?.used
}

/** How many of a quota an account has used today. */
export async function readDailyQuota<Tables extends DailyQuotaTables> (
  db: Kysely<Tables>,
  { name, accountId, day: { startsAt } }: DailyQuota
) {
  const { rows } = await sql<{ used: number }>`
    select used from daily_quotas where account_id = ${accountId} and name = ${name} and ends_at > ${startsAt}`
    .execute(db)
  return rows[0]?.used ?? 0
}

/** Deletes quotas whose day is over in every time zone. */
export const deleteExpiredQuotas = async (db: Kysely<DailyQuotaTables>) =>
  await deleteInChunks(db, 'daily_quotas', sql`ends_at < now() - interval '2 days' order by ends_at`)
