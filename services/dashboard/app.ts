import { startRpcHandlers, startConsumers, type Bus } from '@tandem/bus-kit'
import { createServer, type ServerOptions } from '@tandem/http-kit'
import type { Deps } from './deps.ts'
import { goalRoutes } from './goals/routes.ts'
import { healthScoreRoutes } from './health-score/routes.ts'
import { homeRoutes } from './home/routes.ts'
import { logRoutes } from './logs/routes.ts'
import { onFactsChanged, onPersonChanged } from './people/consumers.ts'
import { programRoutes } from './programs/routes.ts'
import { recordRoutes } from './records/routes.ts'
import { statsRoutes } from './stats/routes.ts'
import { handleTrainingProgress, handleTrainingTotals } from './totals/rpc.ts'
import { weeklyOverviewRoutes } from './weekly-overview/routes.ts'

const routes = [
  homeRoutes,
  statsRoutes,
  healthScoreRoutes,
  weeklyOverviewRoutes,
  logRoutes,
  recordRoutes,
  goalRoutes,
  programRoutes
]
const consumers = [onPersonChanged, onFactsChanged]
const rpcs = [handleTrainingTotals, handleTrainingProgress]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'dashboard', ...options })
  for (const plugin of routes) await app.register(plugin, deps)
  return app
}

/** Consumes events and serves RPCs until stopped. */
export function startMessaging (bus: Bus, deps: Deps) {
  startRpcHandlers(bus, rpcs.map((createHandler) => createHandler(deps)))
  return startConsumers(bus, deps.db, consumers.map((createHandler) => createHandler(deps)))
}
