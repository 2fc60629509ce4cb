import { screen } from '@tandem/local-servers/screen.ts'

// Measures and rehearses realtime connections: `npm run live -- <scenario>`.
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
  screen.error(`Usage: npm run live -- ${Object.keys(scenarios).join('|')}`)
  process.exitCode = 1
}
