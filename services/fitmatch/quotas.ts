import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import { sql } from 'kysely'
import type { Trx } from './tables.ts'

/** Today's date in `timezone`, for example `2026-01-31`. */
export function todayIn (timezone: string) {
  try {
    return Temporal.Now.plainDateISO(timezone).toString()
  } catch {
    // This machine does not know the time zone. That must not fail the request.
    return Temporal.Now.plainDateISO(DEFAULT_TIMEZONE).toString()
  }
}

interface DailyLimit {
  accountId: string
  day: string
  limit: number
}

/**
 * Uses one of the day's `limit` and returns how many are now used, or undefined if none is left. It is one statement,
 * so concurrent requests cannot all take the last one. The row stays locked until the end of the transaction.
 */
export async function useDailyQuota (
  trx: Trx,
  table: 'position_change_quota' | 'swipe_quota' | 'report_quota',
  { accountId, day, limit }: DailyLimit
) {
  if (limit < 1) return
  const { rows } = await sql<{ used: number }>`
    insert into ${sql.table(table)} as quota (account_id, day, used) values (${accountId}, ${day}, 1)
    on conflict (account_id, day) do update set used = quota.used + 1 where quota.used < ${limit}
    returning used`.execute(trx)
  return rows[0]?.used
}
