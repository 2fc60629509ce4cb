import { createServer, type ServerOptions } from '@tandem/http-kit'
import { serveOperators, serveProposals } from '@tandem/operator-kit'
import { onPasswordChanged, onProviderLinked, onSessionStarted } from './account/consumers.ts'
import { onPersonBlocked, onPersonUnblocked } from './blocks/consumers.ts'
import { broadcastRoutes } from './broadcasts/operator-routes.ts'
import { confirmBroadcast } from './broadcasts/operators.ts'
import { onBroadcastSent } from './broadcasts/consumers.ts'
import { handleErasureCheck, handlePersonalData } from './erasure.ts'
import type { Deps } from './deps.ts'
import { onSessionsEnded } from './devices/consumers.ts'
import { deviceRoutes } from './devices/routes.ts'
import { onMessagesRead } from './inbox/consumers.ts'
import { inboxRoutes } from './inbox/routes.ts'
import { onPostLiked, onPostUnliked } from './likes/consumers.ts'
import { onMatchEnded, onNotificationRequested, onNotificationsObsolete } from './notifications/consumers.ts'
import {
  onMeetingCleared,
  onMeetingEnded,
  onMeetingOverdue,
  onMeetingShared,
  onMeetingSilenced
} from './meetings/consumers.ts'
import { operatorRoutes } from './operators/routes.ts'
import { onPersonChanged } from './people/consumers.ts'
import { preferenceRoutes } from './preferences/routes.ts'
import { producerOperatorRoutes } from './producers/operator-routes.ts'
import { producerRoutes } from './producers/routes.ts'
import { pushRoutes } from './push/routes.ts'
import { onAccountChanged } from './realtime/consumers.ts'
import { realtimeRoutes } from './realtime/routes.ts'
import { onContactBlocked, onContactHidden } from './trusted-contact/consumers.ts'
import { handleTrustedContactStatus } from './trusted-contact/rpc.ts'
import { trustedContactRoutes } from './trusted-contact/routes.ts'
import { onAccountErasing, onEventForWebhooks } from './webhooks/consumers.ts'
import { webhookRoutes } from './webhooks/operator-routes.ts'

const routes = [
  deviceRoutes,
  pushRoutes,
  inboxRoutes,
  preferenceRoutes,
  trustedContactRoutes,
  realtimeRoutes,
  producerRoutes,
  producerOperatorRoutes,
  operatorRoutes,
  broadcastRoutes,
  webhookRoutes
]
const consumers = [
  onPersonChanged,
  onPersonBlocked,
  onPersonUnblocked,
  onContactBlocked,
  onContactHidden,
  onSessionsEnded,
  onPasswordChanged,
  onProviderLinked,
  onSessionStarted,
  onMatchEnded,
  onMessagesRead,
  onPostLiked,
  onPostUnliked,
  onBroadcastSent,
  onMeetingShared,
  onMeetingOverdue,
  onMeetingCleared,
  onMeetingEnded,
  onMeetingSilenced
]
const rpcHandlers = [handleTrustedContactStatus, handlePersonalData, handleErasureCheck]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'notification', ...options })
  await serveOperators(app, deps.db)
  await serveProposals(app, {
    db: deps.db,
    handlers: {
      BROADCAST: { confirm: async (operator, proposal) => await confirmBroadcast(deps, operator, proposal) }
    }
  })
  for (const each of routes) await app.register(each, deps)
  return app
}

/** The handlers of all events that this service consumes. */
export const createHandlers = (deps: Deps) => [
  ...consumers.map((each) => each(deps)),
  ...onNotificationRequested(deps),
  ...onNotificationsObsolete(deps),
  ...onAccountChanged(deps),
  ...onEventForWebhooks(deps),
  ...deps.erasure.handlers,
  onAccountErasing(deps)
]

/** The handlers of all RPCs that this service provides. */
export const createRpcHandlers = (deps: Deps) => rpcHandlers.map((each) => each(deps))
