import { createServer, type ServerOptions } from '@tandem/http-kit'
import { handleAccounts, handleAddressVerified, handleContact, handleMembership } from './accounts/rpc.ts'
import { onPersonChanged } from './accounts/consumers.ts'
import { accountRoutes } from './accounts/routes.ts'
import type { Deps } from './deps.ts'
import { onAccountErased } from './erasures/consumers.ts'
import { erasureRoutes } from './erasures/routes.ts'
import { handleDepartures } from './erasures/rpc.ts'
import { issueRoutes } from './issues/routes.ts'
import { handleSigningKeys } from './keys/rpc.ts'
import { keyRoutes } from './keys/routes.ts'
import { passwordRoutes } from './passwords/routes.ts'
import { providerRoutes } from './providers/routes.ts'
import { registrationRoutes } from './registration/routes.ts'
import { onOperatorActed } from './security-log/consumers.ts'
import { trackRequests } from './security-log/requests.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { signInRoutes } from './sign-in/routes.ts'

const routes = [
  registrationRoutes,
  signInRoutes,
  providerRoutes,
  sessionRoutes,
  passwordRoutes,
  accountRoutes,
  issueRoutes,
  erasureRoutes,
  keyRoutes
]
const consumers = [onPersonChanged, onOperatorActed]
const rpcHandlers = [
  handleSigningKeys,
  handleAccounts,
  handleContact,
  handleMembership,
  handleAddressVerified,
  handleDepartures
]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'identity', ...options })
  trackRequests(app)
  for (const each of routes) await app.register(each, deps)
  return app
}

/** The handlers of all events that this service consumes. */
export const createHandlers = (deps: Deps) => [...consumers.map((each) => each(deps)), ...onAccountErased(deps)]

/** The handlers of all RPCs that this service provides. */
export const createRpcHandlers = (deps: Deps) => rpcHandlers.map((each) => each(deps))
