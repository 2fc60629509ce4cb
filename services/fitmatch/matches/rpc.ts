import { handleRpc } from '@tandem/bus-kit'
import { FitMatchOverview } from '@tandem/contracts'
import { listUpcoming } from '../activities/queries.ts'
import type { Deps } from '../deps.ts'
import { findCaller } from '../people/queries.ts'
import { listNewestMatches } from './queries.ts'

const MAX_ON_HOME_SCREEN = 10

export const handleFitMatchOverview = ({ db, media, now }: Deps) =>
  handleRpc(FitMatchOverview, async ({ accountId }) => {
    const caller = await findCaller(db, accountId)
    if (!caller) return { hasProfile: false, status: null, discoverTutorialSeen: false, matches: [] }
    return {
      hasProfile: true,
      status: caller.status,
      discoverTutorialSeen: caller.tutorialSeen,
      matches: caller.status === 'SUSPENDED'
        ? []
        : (await listNewestMatches(db, accountId, MAX_ON_HOME_SCREEN)).map((match) => ({
          ...match,
          photo: media.urlOf(match.photo)
        })),
      upcomingActivities: caller.status === 'SUSPENDED' ? [] : await listUpcoming(db, accountId, now())
    }
  })
