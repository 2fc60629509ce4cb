import { handleRpc } from '@tandem/bus-kit'
import { AchievementSnapshot } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findAchievementSnapshot } from './queries.ts'

export const handleAchievementSnapshot = ({ db }: Deps) =>
  handleRpc(
    AchievementSnapshot,
    async ({ accountId, achievementId, language }) =>
      await findAchievementSnapshot(db, accountId, { achievementId, language })
  )
