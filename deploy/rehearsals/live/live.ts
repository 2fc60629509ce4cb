// Measures and rehearses realtime connections: `latency`, `chaos`, `storm`, `drain`, `sessions`, `pushes` or `abuse`.
// `latency` measures how soon a message is at the other's socket; `chaos`, `storm` and `drain` do so under kills, when all
// clients connect at once, and when a gateway ends; `sessions` and `pushes` show when connections end, and when a push
// waits for them; `abuse` lets clients do what they should not.
import { screen } from '@tandem/local-servers/screen.ts'

const scenarios = {
  latency: () => import('./latency.ts'),
  chaos: () => import('./chaos.ts'),
  storm: () => import('./storm.ts'),
  drain: () => import('./drain.ts'),
  sessions: () => import('./sessions.ts'),
  pushes: () => import('./pushes.ts'),
  abuse: () => import('./abuse.ts')
}

const [name = ''] = process.argv.slice(2)
const isScenario = (name: string): name is keyof typeof scenarios => Object.hasOwn(scenarios, name)
if (isScenario(name)) {
  const { run } = await scenarios[name]()
  await run()
  // Clients and child processes may still have timers.
  process.exit()
} else {
  screen.error(`Usage: npm run rehearse live -- ${Object.keys(scenarios).join('|')}`)
  process.exitCode = 1
}
