import { dayIn } from '../quotas.ts'
import type { Caller } from '../profiles/queries.ts'
import type { Db } from '../schema.ts'

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
  const row = await db.selectFrom('swipe_quota').select('used')
    .where('account_id', '=', caller.accountId).where('day', '=', dayIn(caller.timezone))
    .executeTakeFirst()
  return describeLimits(caller, row?.used ?? 0)
}
