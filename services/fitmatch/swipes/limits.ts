import { dayIn } from '../quotas.ts'
import type { Caller } from '../profiles/queries.ts'
import type { Db } from '../tables.ts'

const FREE = 10
// A number, as the interface has numbers here, and one that nobody can use up in a day.
const ENDLESS = 999_999

export const limitOf = ({ isSubscribed }: Pick<Caller, 'isSubscribed'>) => isSubscribed ? ENDLESS : FREE

export function describeLimits (caller: Pick<Caller, 'isSubscribed'>, used: number) {
  const dailySwipes = limitOf(caller)
  return { dailySwipes, remaining: caller.isSubscribed ? ENDLESS : Math.max(0, dailySwipes - used), used, unlimited: caller.isSubscribed }
}

/** What the caller has of today's swipes. */
export async function readSwipeLimits (db: Db, caller: Caller) {
  return describeLimits(caller, await countUsed(db, caller.accountId, dayIn(caller.timezone)))
}

/** How many swipes of a day are used. */
export async function countUsed (db: Db, accountId: string, day: string) {
  const row = await db.selectFrom('swipe_quota').where('account_id', '=', accountId).where('day', '=', day).select('used').executeTakeFirst()
  return row?.used ?? 0
}
