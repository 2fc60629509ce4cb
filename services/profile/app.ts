import { createServer, type ServerOptions } from '@tandem/http-kit'
import { handleErasureCheck, handlePersonalData } from './erasure.ts'
import { auditAppAdmins, serveOperators } from '@tandem/operator-kit'
import type { Deps } from './deps.ts'
import { onboardingRoutes } from './onboarding/routes.ts'
import { optionOperatorRoutes } from './options/operator-routes.ts'
import { handleOfferedOptions } from './options/rpc.ts'
import { adminOptionRoutes, optionRoutes } from './options/routes.ts'
import { handleMatchFacts, handlePeople, handlePeopleNamed, handlePerson } from './people/rpc.ts'
import { onAccountRegistered, onWeightLogged, onWeightUnlogged } from './people/consumers.ts'
import { profileRoutes } from './people/routes.ts'
import { personOperatorRoutes } from './operators/routes.ts'
import { photoRoutes } from './photos/routes.ts'
import { placeRoutes } from './places/routes.ts'

const routes = [
  onboardingRoutes,
  optionRoutes,
  adminOptionRoutes,
  optionOperatorRoutes,
  photoRoutes,
  placeRoutes,
  profileRoutes,
  personOperatorRoutes
]
const consumers = [onAccountRegistered, onWeightLogged, onWeightUnlogged]
const rpcHandlers = [
  handlePerson,
  handlePeople,
  handlePeopleNamed,
  handleMatchFacts,
  handleOfferedOptions,
  handlePersonalData,
  handleErasureCheck
]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'profile', ...options })
  await serveOperators(app, deps.db)
  // They stay one release longer than their successors below /operator.
  auditAppAdmins(app, { db: deps.db, prefix: '/onboarding/admin/', isOff: deps.areAdminRoutesOff })
  for (const each of routes) await app.register(each, deps)
  return app
}

/** The handlers of all events that this service consumes. */
export const createHandlers = (deps: Deps) => [...consumers.map((each) => each(deps)), ...deps.erasure.handlers]

/** The handlers of all RPCs that this service provides. */
export const createRpcHandlers = (deps: Deps) => rpcHandlers.map((each) => each(deps))
