import { readLimits } from '@tandem/brand-kit'
import { readDailyQuota } from '@tandem/database-kit'
import type { Caller } from '../people/queries.ts'
import { todayIn } from '../today.ts'
import type { Db } from '../tables.ts'

// The API has numbers here, so unlimited is a number that nobody can use up in a day.
const UNLIMITED_SWIPES = 999_999

export const dailyLimitOf = ({ hasUnlimitedSwipes }: Pick<Caller, 'hasUnlimitedSwipes'>) =>
  hasUnlimitedSwipes ? UNLIMITED_SWIPES : readLimits().freeSwipesPerDay

export function describeLimits (caller: Pick<Caller, 'hasUnlimitedSwipes'>, used: number) {
  const dailySwipes = dailyLimitOf(caller)
  return {
    dailySwipes,
    remaining: caller.hasUnlimitedSwipes ? UNLIMITED_SWIPES : Math.max(0, dailySwipes - used),
    used,
    unlimited: caller.hasUnlimitedSwipes
  }
}

/** The caller's swipes of today. */
export const swipeQuotaOf = ({ accountId, timezone }: Pick<Caller, 'accountId' | 'timezone'>) => ({
  name: 'swipes',
  accountId,
  day: todayIn(timezone)
})

/** The caller's swipe limits for today. */
export async function readSwipeLimits (db: Db, caller: Caller) {
  return describeLimits(caller, await readDailyQuota(db, swipeQuotaOf(caller)))
}
