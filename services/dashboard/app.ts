import { createServer, LONG_REQUEST_TIMEOUT_MS, ofFeature, type Routes, type ServerOptions } from '@tandem/http-kit'
import { handleErasureCheck, handlePersonalData } from './erasure.ts'
import { serveOperators } from '@tandem/operator-kit'
import type { Deps } from './deps.ts'
import { onAchievementShared, onAchievementUnshared } from './achievements/consumers.ts'
import { achievementRoutes } from './achievements/routes.ts'
import { handleAchievementSnapshot } from './achievements/rpc.ts'
import { onBookingChanged } from './bookings/consumers.ts'
import { exerciseRoutes } from './exercises/routes.ts'
import { fastingRoutes } from './fasting/routes.ts'
import { goalRoutes } from './goals/routes.ts'
import { healthScoreRoutes } from './health-score/routes.ts'
import { homeRoutes } from './home/routes.ts'
import { importRoutes } from './imports/routes.ts'
import { onActivityAttended } from './logs/consumers.ts'
import { logRoutes } from './logs/routes.ts'
import { handleWorkoutSnapshot } from './logs/rpc.ts'
import { onFactsChanged, onPersonChanged } from './people/consumers.ts'
import { programRoutes } from './programs/routes.ts'
import { recordRoutes } from './records/routes.ts'
import { statsRoutes } from './stats/routes.ts'
import { syncRoutes } from './sync/routes.ts'
import { handleTrainingProgress, handleTrainingTotals } from './totals/rpc.ts'
import { trendRoutes } from './trends/routes.ts'
import { weeklyOverviewRoutes } from './weekly-overview/routes.ts'

const routes: Routes<Deps>[] = [
  homeRoutes,
  statsRoutes,
  syncRoutes,
  healthScoreRoutes,
  weeklyOverviewRoutes,
  trendRoutes,
  logRoutes,
  importRoutes,
  recordRoutes,
  achievementRoutes,
  goalRoutes,
  exerciseRoutes,
  ofFeature('dashboardPrograms', programRoutes),
  ofFeature('fasting', fastingRoutes)
]
const consumers = [
  onPersonChanged,
  onFactsChanged,
  onActivityAttended,
  onBookingChanged,
  onAchievementShared,
  onAchievementUnshared
]
const rpcs = [
  handleTrainingTotals,
  handleTrainingProgress,
  handleWorkoutSnapshot,
  handleAchievementSnapshot,
  handlePersonalData,
  handleErasureCheck
]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'dashboard', longestRequestMs: LONG_REQUEST_TIMEOUT_MS, ...options })
  await serveOperators(app, deps.db)
  for (const plugin of routes) await app.register(plugin, deps)
  return app
}

/** The handlers of all events that this service consumes. */
export const createHandlers = (deps: Deps) => [...consumers.map((each) => each(deps)), ...deps.erasure.handlers]

/** The handlers of all RPCs that this service provides. */
export const createRpcHandlers = (deps: Deps) => rpcs.map((each) => each(deps))
