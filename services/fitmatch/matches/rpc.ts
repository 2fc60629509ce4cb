import { handleRpc } from '@tandem/bus-kit'
import { FitMatchOverview } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findCaller } from '../profiles/queries.ts'
import { listNewest } from './queries.ts'

const SHOWN_AT_HOME = 10

export const answerFitMatchOverview = ({ db, media }: Deps) => handleRpc(FitMatchOverview, async ({ accountId }) => {
  const caller = await findCaller(db, accountId)
  if (!caller) return { hasProfile: false, status: null, discoverTutorialSeen: false, matches: [] }
  return {
    hasProfile: true,
    status: caller.status,
    discoverTutorialSeen: caller.tutorialSeen,
    matches: caller.status === 'SUSPENDED' ? [] : (await listNewest(db, accountId, SHOWN_AT_HOME)).map((match) => ({ ...match, photo: media.urlOf(match.photo) }))
  }
})
