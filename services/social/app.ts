import type { RpcHandler, Handler } from '@tandem/bus-kit'
import { createServer, LONG_REQUEST_TIMEOUT_MS, ofFeature, type Routes, type ServerOptions } from '@tandem/http-kit'
import { caseHoldHandler, caseRoutes } from '@tandem/case-kit'
import { serveOperators, serveProposals } from '@tandem/operator-kit'
import { commentRoutes } from './comments/routes.ts'
import { handleConnection } from './connections/rpc.ts'
import { onMatchEnded, onMatchMade, onPersonBlocked, onPersonUnblocked } from './connections/consumers.ts'
import { handleErasureCheck, handlePersonalData } from './erasure.ts'
import type { Deps } from './deps.ts'
import { feedRoutes } from './feed/routes.ts'
import { followRoutes } from './follows/routes.ts'
import { hashtagRoutes } from './hashtags/routes.ts'
import { likeRoutes } from './likes/routes.ts'
import { mediaRoutes } from './media/routes.ts'
import { uploadRoutes } from './media/upload-routes.ts'
import { onPersonChanged } from './people/consumers.ts'
import { personRoutes } from './people/routes.ts'
import { pollRoutes } from './polls/routes.ts'
import { onActivityCanceled } from './posts/consumers.ts'
import { postRoutes } from './posts/routes.ts'
import { onDecisionMade } from './reports/consumers.ts'
import { refuseRestricted } from './reports/restrictions.ts'
import { handleCase, handleModeration, handleReport } from './reports/rpc.ts'
import { reportRoutes } from './reports/routes.ts'
import { storyRoutes } from './stories/routes.ts'
import { onPersonHidden } from './visibility/consumers.ts'

const routes: Routes<Deps>[] = [
  feedRoutes,
  postRoutes,
  likeRoutes,
  commentRoutes,
  ofFeature('polls', pollRoutes),
  hashtagRoutes,
  personRoutes,
  followRoutes,
  ofFeature('stories', storyRoutes),
  mediaRoutes,
  ofFeature('video', uploadRoutes),
  reportRoutes
]
const consumers: ((deps: Deps) => Handler)[] = [
  onPersonChanged,
  onPersonHidden,
  onMatchMade,
  onMatchEnded,
  onPersonBlocked,
  onPersonUnblocked,
  onActivityCanceled,
  onDecisionMade
]
const rpcHandlers: ((deps: Deps) => RpcHandler)[] = [
  handleConnection,
  handlePersonalData,
  handleErasureCheck,
  handleCase,
  handleReport,
  handleModeration
]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'social', longestRequestMs: LONG_REQUEST_TIMEOUT_MS, ...options })
  await serveOperators(app, deps.db)
  await serveProposals(app, { db: deps.db, handlers: { HOLD: caseHoldHandler(deps.db) } })
  refuseRestricted(app, deps)
  // Encapsulated, because health probes and scrapes are no sign of readers.
  await app.register(async (features) => {
    features.addHook('onRequest', (_request, _reply, done) => {
      deps.ranking.onRequest()
      done()
    })
    for (const plugin of routes) await features.register(plugin, deps)
  })
  await app.register(caseRoutes, deps)
  return app
}

/** The handlers of all events that this service consumes. Those of one event run in this order. */
export const createHandlers = (deps: Deps) => [...deps.erasure.handlers, ...consumers.map((each) => each(deps))]

/** The handlers of all RPCs that this service provides. */
export const createRpcHandlers = (deps: Deps) => rpcHandlers.map((each) => each(deps))
