import { createServer, ofFeature, type Routes, type ServerOptions } from '@tandem/http-kit'
import { activityRoutes } from './activities/routes.ts'
import { onPersonUnfollowed } from './activities/consumers.ts'
import { participantRoutes } from './activities/participant-routes.ts'
import { caseHoldHandler, caseRoutes } from '@tandem/case-kit'
import { auditAppAdmins, serveOperators, serveProposals } from '@tandem/operator-kit'
import { onAchievementEarned } from './badges/consumers.ts'
import { badgeRoutes } from './badges/routes.ts'
import { buddyRoutes } from './buddies/routes.ts'
import { chatRoutes } from './chat/routes.ts'
import { handleErasureCheck, handlePersonalData } from './erasure.ts'
import type { Deps } from './deps.ts'
import { discoverRoutes } from './discover/routes.ts'
import { meetingRoutes } from './meetings/routes.ts'
import {
  onMeetingAlarmMailed,
  onMeetingMailFailed,
  onPersonHidden,
  onTrustedContactEnded
} from './meetings/consumers.ts'
import { handleArmedMeetings, handleMeetingDetails, handleMeetingStatus } from './meetings/rpc.ts'
import { handleActivitySnapshot } from './activities/rpc.ts'
import { handleFitMatchOverview } from './matches/rpc.ts'
import { matchRoutes } from './matches/routes.ts'
import { recordActivity } from './people/activity.ts'
import { handleTier } from './people/rpc.ts'
import { onFactsChanged, onPersonChanged, onSubscriptionChanged } from './people/consumers.ts'
import { photoRoutes } from './photos/routes.ts'
import { placeRoutes } from './places/routes.ts'
import { profileRoutes } from './profiles/routes.ts'
import {
  onAccountVerified,
  onBirthDateChanged,
  onDecisionMade,
  onPersonReported,
  onSuspensionContinued
} from './safety/consumers.ts'
import { blockRoutes } from './safety/people-routes.ts'
import { reportOperatorRoutes } from './safety/operator-routes.ts'
import { handleCase, handleModeration, handleReport } from './safety/rpc.ts'
import { handleRealtimeDetails } from './realtime/rpc.ts'
import { realtimeRoutes } from './realtime/routes.ts'
import { safetyRoutes } from './safety/routes.ts'
import { settingsRoutes } from './settings/routes.ts'
import { setupRoutes } from './setup/routes.ts'
import { swipeRoutes } from './swipes/routes.ts'
import { venueRoutes } from './venues/routes.ts'
import { verificationConsoleRoutes } from './verification/console-routes.ts'
import { verificationOperatorRoutes, verificationRoutes } from './verification/routes.ts'

const routes: Routes<Deps>[] = [
  ...[
    profileRoutes,
    photoRoutes,
    venueRoutes,
    placeRoutes,
    settingsRoutes,
    setupRoutes,
    discoverRoutes,
    swipeRoutes,
    matchRoutes,
    chatRoutes,
    safetyRoutes,
    verificationRoutes,
    verificationConsoleRoutes,
    reportOperatorRoutes,
    verificationOperatorRoutes,
    badgeRoutes,
    buddyRoutes
  ].map((each) => ofFeature('fitmatch', each)),
  ...[activityRoutes, participantRoutes, meetingRoutes].map((each) => ofFeature('activities', each)),
  // Of everybody, with a profile or without.
  blockRoutes,
  realtimeRoutes
]
const consumers = [
  onPersonChanged,
  onFactsChanged,
  // After the handler that stores the birth date.
  onBirthDateChanged,
  onSubscriptionChanged,
  onAccountVerified,
  onPersonReported,
  onSuspensionContinued,
  onPersonUnfollowed,
  onAchievementEarned,
  onDecisionMade,
  onTrustedContactEnded,
  onMeetingAlarmMailed,
  onMeetingMailFailed
]
const rpcHandlers = [
  handleFitMatchOverview,
  handleActivitySnapshot,
  handleTier,
  handleRealtimeDetails,
  handleMeetingDetails,
  handleArmedMeetings,
  handleMeetingStatus,
  handlePersonalData,
  handleErasureCheck,
  handleCase,
  handleReport,
  handleModeration
]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'fitmatch', ...options })
  await serveOperators(app, deps.db)
  await serveProposals(app, { db: deps.db, handlers: { HOLD: caseHoldHandler(deps.db) } })
  app.addHook('preHandler', recordActivity(deps.db))
  // They stay one release longer than their successors below /operator.
  auditAppAdmins(app, { db: deps.db, prefix: '/fitmatch/admin/', isOff: deps.areAdminRoutesOff })
  for (const each of routes) await app.register(each, deps)
  await app.register(caseRoutes, deps)
  return app
}

/** The handlers of all events that this service consumes. */
export const createHandlers = (deps: Deps) => [
  ...consumers.map((each) => each(deps)),
  ...deps.erasure.handlers,
  // After the handlers that store who is hidden.
  onPersonHidden(deps)
]

/** The handlers of all RPCs that this service provides. */
export const createRpcHandlers = (deps: Deps) => rpcHandlers.map((each) => each(deps))
