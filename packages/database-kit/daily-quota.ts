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
}

/**
 * Uses one of the day's `limit` and returns how many are now used, or undefined if none is left. It is one statement,
 * so concurrent requests cannot all take the last one. The row stays locked until the end of the transaction.
 */
export async function useDailyQuota<Tables> (
  trx: Transaction<Tables>,
  { table, column = 'used', accountId, day, limit }: DailyQuota<Tables>
) {
  if (limit < 1) return
  const { rows } = await sql<{ used: number }>`
    insert into ${sql.table(table)} as quota (account_id, day, ${sql.ref(column)}) values (${accountId}, ${day}, 1)
    on conflict (account_id, day) do update set ${sql.ref(column)} = quota.${sql.ref(column)} + 1
      where quota.${sql.ref(column)} < ${limit}
    returning ${sql.ref(column)} as used`.execute(trx)
  return rows[0]?.used
}
