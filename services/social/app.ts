import { startRpcHandlers, startConsumers, type RpcHandler, type Bus, type Handler } from '@tandem/bus-kit'
import { createServer, type Routes, type ServerOptions } from '@tandem/service-kit'
import { commentRoutes } from './comments/routes.ts'
import { answerConnection } from './connections/rpc.ts'
import { onMatchEnded, onMatchMade, onPersonBlocked, onPersonUnblocked } from './connections/consumers.ts'
import type { Deps } from './deps.ts'
import { feedRoutes } from './feed/routes.ts'
import { followRoutes } from './follows/routes.ts'
import { hashtagRoutes } from './hashtags/routes.ts'
import { likeRoutes } from './likes/routes.ts'
import { mediaRoutes } from './media/routes.ts'
import { onPersonChanged } from './people/consumers.ts'
import { personRoutes } from './people/routes.ts'
import { pollRoutes } from './polls/routes.ts'
import { postRoutes } from './posts/routes.ts'
import { storyRoutes } from './stories/routes.ts'

const routes: Routes<Deps>[] = [
  feedRoutes, postRoutes, likeRoutes, commentRoutes, pollRoutes, hashtagRoutes, personRoutes, followRoutes, storyRoutes, mediaRoutes
]
const consumers: ((deps: Deps) => Handler)[] = [onPersonChanged, onMatchMade, onMatchEnded, onPersonBlocked, onPersonUnblocked]
const answers: ((deps: Deps) => RpcHandler)[] = [answerConnection]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'social', ...options })
  for (const each of routes) await app.register(each, deps)
  return app
}

/** What this service hears. */
export const createHandlers = (deps: Deps) => consumers.map((each) => each(deps))

/** Hears and answers the other services until stopped. */
export function startMessaging (bus: Bus, deps: Deps) {
  startRpcHandlers(bus, answers.map((each) => each(deps)))
  return startConsumers(bus, deps.db, createHandlers(deps))
}
