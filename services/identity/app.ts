import { startRpcHandlers, startConsumers, type Bus } from '@tandem/bus-kit'
import { createServer, type ServerOptions } from '@tandem/service-kit'
import { answerAccounts, answerAddressVerified, answerContact, answerMembership } from './accounts/rpc.ts'
import { onPersonChanged } from './accounts/consumers.ts'
import { accountRoutes } from './accounts/routes.ts'
import type { Deps } from './deps.ts'
import { issueRoutes } from './issues/routes.ts'
import { answerSigningKeys } from './keys/rpc.ts'
import { keyRoutes } from './keys/routes.ts'
import { passwordRoutes } from './passwords/routes.ts'
import { providerRoutes } from './providers/routes.ts'
import { registrationRoutes } from './registration/routes.ts'
import { onOperatorActed } from './security-log/consumers.ts'
import { trackRequests } from './security-log/requests.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { signInRoutes } from './sign-in/routes.ts'

const routes = [registrationRoutes, signInRoutes, providerRoutes, sessionRoutes, passwordRoutes, accountRoutes, issueRoutes, keyRoutes]
const consumers = [onPersonChanged, onOperatorActed]
const answers = [answerSigningKeys, answerAccounts, answerContact, answerMembership, answerAddressVerified]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'identity', ...options })
  trackRequests(app)
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
