import type { Db } from '../tables.ts'
import { badges, requirements } from './rules.ts'

/** An account's badges, and its progress towards each of the others as of the last recalculation. */
export async function readBadges (db: Db, accountId: string) {
  const [earned, recorded] = await Promise.all([
    db.selectFrom('badges').where('account_id', '=', accountId).select(['badge', 'earned_at']).orderBy('earned_at')
      .execute(),
    db.selectFrom('badge_progress').where('account_id', '=', accountId).select(['badge', 'progress']).execute()
  ])
  return {
    badges: earned.map(({ badge }) => badge),
    progress: badges.map((badge) => {
      const granted = earned.find((each) => each.badge === badge)
      if (granted) return { badge, progress: 100, earnedAt: granted.earned_at }
      // 100 percent is shown only once the badge is granted.
      return {
        badge,
        progress: Math.min(99, recorded.find((each) => each.badge === badge)?.progress ?? 0),
        requirement: requirements[badge]
      }
    })
  }
}
