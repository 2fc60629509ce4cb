import { on } from '@tandem/bus-kit'
import { AchievementEarned } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { recalculateBadges } from './actions.ts'

/** The achievements that come with what a badge needs: a streak of four weeks, and ten records. */
const DECISIVE = ['WEEK_STREAK_4', 'TEN_PRS']

export const onAchievementEarned = (deps: Deps) =>
  on(AchievementEarned, async ({ data: { accountId, achievement } }) => {
    if (!DECISIVE.includes(achievement)) return
    const profile = await deps.db.selectFrom('profiles').where('account_id', '=', accountId).select('id')
      .executeTakeFirst()
    if (profile) await recalculateBadges(deps, accountId)
  })
