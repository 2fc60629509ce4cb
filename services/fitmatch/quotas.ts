import { sql } from 'kysely'
import type { Trx } from './tables.ts'

/** Today's date where the clock shows `timezone`, such as `2026-01-31`. */
export function dayIn (timezone: string) {
  try {
    return Temporal.Now.plainDateISO(timezone).toString()
  } catch {
    // A zone that this machine does not know is no reason to refuse anything.
    return Temporal.Now.plainDateISO('Asia/Jakarta').toString()
  }
}

interface DailyLimit { accountId: string, day: string, limit: number }

/**
 * Uses up one of the day's `limit` and returns how many are used now, or undefined when there is none left. One statement, so that
 * requests at once cannot each find the last one; its row stays locked until the end of the transaction.
 */
export async function useDailyQuota (trx: Trx, table: 'position_change_quota' | 'swipe_quota' | 'report_quota', { accountId, day, limit }: DailyLimit) {
  if (limit < 1) return
  const { rows } = await sql<{ used: number }>`
    insert into ${sql.table(table)} as quota (account_id, day, used) values (${accountId}, ${day}, 1)
    on conflict (account_id, day) do update set used = quota.used + 1 where quota.used < ${limit}
    returning used`.execute(trx)
  return rows[0]?.used
}
