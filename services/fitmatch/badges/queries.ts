import type { Db } from '../tables.ts'
import { badges, requirements } from './rules.ts'

/** The badges somebody has, and how far he was with each of the others at the last recalculation. */
export async function readBadges (db: Db, accountId: string) {
  const [earned, measured] = await Promise.all([
    db.selectFrom('badges').where('account_id', '=', accountId).select(['badge', 'earned_at']).orderBy('earned_at').execute(),
    db.selectFrom('badge_progress').where('account_id', '=', accountId).select(['badge', 'progress']).execute()
  ])
  return {
    badges: earned.map(({ badge }) => badge),
    progress: badges.map((badge) => {
      const has = earned.find((each) => each.badge === badge)
      if (has) return { badge, progress: 100, earnedAt: has.earned_at }
      // A badge is given with its last percent, never before.
      return { badge, progress: Math.min(99, measured.find((each) => each.badge === badge)?.progress ?? 0), requirement: requirements[badge] }
    })
  }
}
