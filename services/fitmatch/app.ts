import { createServer, type ServerOptions } from '@tandem/http-kit'
import { badgeRoutes } from './badges/routes.ts'
import { chatRoutes } from './chat/routes.ts'
import type { Deps } from './deps.ts'
import { discoverRoutes } from './discover/routes.ts'
import { handleFitMatchOverview } from './matches/rpc.ts'
import { matchRoutes } from './matches/routes.ts'
import { recordActivity } from './people/activity.ts'
import { onFactsChanged, onPersonChanged, onSubscriptionChanged } from './people/consumers.ts'
import { photoRoutes } from './photos/routes.ts'
import { profileRoutes } from './profiles/routes.ts'
import { onAccountVerified } from './safety/consumers.ts'
import { reportOperatorRoutes } from './safety/operator-routes.ts'
import { handleRealtimeDetails } from './realtime/rpc.ts'
import { safetyRoutes } from './safety/routes.ts'
import { settingsRoutes } from './settings/routes.ts'
import { setupRoutes } from './setup/routes.ts'
import { swipeRoutes } from './swipes/routes.ts'
import { venueRoutes } from './venues/routes.ts'
import { verificationOperatorRoutes, verificationRoutes } from './verification/routes.ts'

const routes = [
  profileRoutes,
  photoRoutes,
  venueRoutes,
  settingsRoutes,
  setupRoutes,
  discoverRoutes,
  swipeRoutes,
  matchRoutes,
  chatRoutes,
  safetyRoutes,
  reportOperatorRoutes,
  verificationRoutes,
  verificationOperatorRoutes,
  badgeRoutes
]
const consumers = [onPersonChanged, onFactsChanged, onSubscriptionChanged, onAccountVerified]
const rpcHandlers = [handleFitMatchOverview, handleRealtimeDetails]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'fitmatch', ...options })
  app.addHook('preHandler', recordActivity(deps.db))
  for (const each of routes) await app.register(each, deps)
  return app
}

/** The handlers of all events that this service consumes. */
export const createHandlers = (deps: Deps) => [...consumers.map((each) => each(deps)), ...deps.departures.handlers]

/** The handlers of all RPCs that this service provides. */
export const createRpcHandlers = (deps: Deps) => rpcHandlers.map((each) => each(deps))
