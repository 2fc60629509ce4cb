import { startRpcHandlers, startConsumers, type Bus } from '@tandem/bus-kit'
import { createServer, type ServerOptions } from '@tandem/service-kit'
import type { Deps } from './deps.ts'
import { onboardingRoutes } from './onboarding/routes.ts'
import { answerOfferedOptions } from './options/rpc.ts'
import { managedOptionRoutes, optionRoutes } from './options/routes.ts'
import { answerMatchFacts, answerPeople, answerPeopleNamed, answerPerson } from './people/rpc.ts'
import { onAccountRegistered } from './people/consumers.ts'
import { profileRoutes } from './people/routes.ts'
import { photoRoutes } from './photos/routes.ts'
import { placeRoutes } from './places/routes.ts'

const routes = [onboardingRoutes, optionRoutes, managedOptionRoutes, photoRoutes, placeRoutes, profileRoutes]
const consumers = [onAccountRegistered]
const answers = [answerPerson, answerPeople, answerPeopleNamed, answerMatchFacts, answerOfferedOptions]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'profile', ...options })
  for (const each of routes) await app.register(each, deps)
  return app
}

export const createHandlers = (deps: Deps) => consumers.map((each) => each(deps))
export const createRpcHandlers = (deps: Deps) => answers.map((each) => each(deps))

/** Hears and answers the other services until stopped. */
export function startMessaging (bus: Bus, deps: Deps) {
  startRpcHandlers(bus, createRpcHandlers(deps))
  return startConsumers(bus, deps.db, createHandlers(deps))
}
