import { startAnswers, startConsumers, type Answerer, type Bus } from '@tandem/bus-kit'
import { createServer, type Routes, type ServerOptions } from '@tandem/service-kit'
import { onPasswordChanged, onSessionStarted } from './account/consumers.ts'
import type { Deps } from './deps.ts'

const routes: Routes<Deps>[] = []
const consumers = [onPasswordChanged, onSessionStarted]
const answers: ((deps: Deps) => Answerer)[] = []

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'notification', ...options })
  for (const each of routes) await app.register(each, deps)
  return app
}

/** Hears and answers the other services until stopped. */
export function meetOthers (bus: Bus, deps: Deps) {
  startAnswers(bus, answers.map((each) => each(deps)))
  return startConsumers(bus, deps.db, consumers.map((each) => each(deps)))
}
