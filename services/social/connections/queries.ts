import { sql } from 'kysely'
import type { Db } from '../tables.ts'
import { isMatched } from '../visibility/people.ts'

/** Whether two people are matched, and whether `accountId` has blocked the other. */
export async function readConnection (db: Db, accountId: string, otherId: string) {
  const { rows: [connection] } = await sql<{ isMatched: boolean, hasBlocked: boolean }>`
    select ${isMatched(accountId, otherId)} as "isMatched",
      exists (select from blocks where account_id = ${accountId} and other_id = ${otherId}
        and blocker_id = ${accountId} and not is_lifted) as "hasBlocked"`
    .execute(db)
  return connection!
}
