import { sql, type Transaction } from 'kysely'

interface DailyQuota<Tables> {
  /** Its primary key is (account_id, day). */
  table: keyof Tables & string
  /** The column that counts; `used` by default. */
  column?: string
  accountId: string
  /** A calendar day such as `2026-01-31`, in the account's own time zone. */
  day: string
  limit: number
  /** How many to use, all or none; 1 by default. */
  amount?: number
}

/**
 * Uses `amount` of the day's `limit` and returns how many are now used, or undefined if too few are left. It is one statement,
 * so concurrent requests cannot all take the last one. The row stays locked until the end of the transaction.
 */
export async function useDailyQuota<Tables> (
  trx: Transaction<Tables>,
  { table, column = 'used', accountId, day, limit, amount = 1 }: DailyQuota<Tables>
) {
  if (limit < amount) return
  const { rows } = await sql<{ used: number }>`
    insert into ${sql.table(table)} as quota (account_id, day, ${
    sql.ref(column)
  }) values (${accountId}, ${day}, ${amount})
    on conflict (account_id, day) do update set ${sql.ref(column)} = quota.${sql.ref(column)} + ${amount}
      where quota.${sql.ref(column)} + ${amount} <= ${limit}
    returning ${sql.ref(column)} as used`.execute(trx)
  return rows[0]?.used
}
