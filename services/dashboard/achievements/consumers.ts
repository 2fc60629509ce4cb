import { on } from '@tandem/bus-kit'
import { AchievementShared, AchievementUnshared } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { storeShare } from './actions.ts'

export const onAchievementShared = ({ db }: Deps) =>
  on(AchievementShared, async ({ data }) => await storeShare(db, data, { isDeleted: false }))

export const onAchievementUnshared = ({ db }: Deps) =>
  on(AchievementUnshared, async ({ data }) => await storeShare(db, data, { isDeleted: true }))
