import { sql } from 'kysely'
import type { Db } from '../tables.ts'
import { isFollowing, isMatched } from '../visibility/people.ts'

/** Whether two people are matched, whether `accountId` has blocked the other, and which of them follows the other. */
export async function readConnection (db: Db, accountId: string, otherId: string) {
  const { rows: [connection] } = await sql<Record<'isMatched' | 'hasBlocked' | 'isFollower' | 'isFollowing', boolean>>`
    select ${isMatched(accountId, otherId)} as "isMatched",
      exists (select from blocks where account_id = ${accountId} and other_id = ${otherId}
        and blocker_id = ${accountId} and not is_lifted) as "hasBlocked",
      ${isFollowing(otherId, accountId)} as "isFollower", ${isFollowing(accountId, otherId)} as "isFollowing"`
    .execute(db)
  return connection!
}
