import { createServer, type ServerOptions } from '@tandem/http-kit'
import { onPasswordChanged, onSessionStarted } from './account/consumers.ts'
import { onPersonBlocked, onPersonUnblocked } from './blocks/consumers.ts'
import { onBroadcastSent } from './broadcasts/consumers.ts'
import type { Deps } from './deps.ts'
import { onSessionsEnded } from './devices/consumers.ts'
import { deviceRoutes } from './devices/routes.ts'
import { onMessagesRead } from './inbox/consumers.ts'
import { inboxRoutes } from './inbox/routes.ts'
import { onPostLiked, onPostUnliked } from './likes/consumers.ts'
import {
  onCommentsDeleted,
  onMatchEnded,
  onNotificationRequested,
  onPersonUnfollowed,
  onPostDeleted,
  onPostNarrowed
} from './notifications/consumers.ts'
import { onPersonChanged } from './people/consumers.ts'
import { preferenceRoutes } from './preferences/routes.ts'
import { pushRoutes } from './push/routes.ts'
import { onAccountChanged } from './realtime/consumers.ts'
import { realtimeRoutes } from './realtime/routes.ts'

const routes = [deviceRoutes, pushRoutes, inboxRoutes, preferenceRoutes, realtimeRoutes]
const consumers = [
  onPersonChanged,
  onPersonBlocked,
  onPersonUnblocked,
  onSessionsEnded,
  onPasswordChanged,
  onSessionStarted,
  onPersonUnfollowed,
  onMatchEnded,
  onMessagesRead,
  onPostDeleted,
  onCommentsDeleted,
  onPostNarrowed,
  onPostLiked,
  onPostUnliked,
  onBroadcastSent
]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'notification', ...options })
  for (const each of routes) await app.register(each, deps)
  return app
}

/** The handlers of all events that this service consumes. */
export const createHandlers = (deps: Deps) => [
  ...consumers.map((each) => each(deps)),
  ...onNotificationRequested(deps),
  ...onAccountChanged(deps),
  ...deps.departures.handlers
]
