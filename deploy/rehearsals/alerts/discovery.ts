import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { start, type ProcessSpec, type Running } from '@tandem/local-servers/process.ts'
import { readStack, type Stack } from '../kit/stack.ts'
import type { Targets } from './prometheus.ts'

const INTERVAL_MS = 500

/** The process that creates the streams, which `npm start` does not run. */
export function prepareStreams (stack: Stack, folder: string) {
  const recipe: ProcessSpec = {
    name: 'streams',
    port: 0,
    logFile: path.join(folder, 'streams.log'),
    command: () => ({
      file: process.execPath,
      args: ['packages/bus-kit/streams-cli.ts', ...Object.keys(stack.services)],
      env: { ...process.env, NATS_URL: stack.nats.url, METRICS_PORT: String(recipe.port) }
    }),
    isReady: async () => (await fetch(metricsUrl())).ok
  }
  const metricsUrl = () => `http://127.0.0.1:${recipe.port}/metrics`
  let running: Running | undefined
  return {
    targets: (): Targets => new Map(running ? [['streams', metricsUrl()]] : []),
    async start () {
      running = await start(recipe)
    },
    async stop () {
      await running?.stop()
      running = undefined
    }
  }
}

/** Names every process that exists to Prometheus, as Kubernetes does, until `stop` is called. */
export function startDiscovery (
  dataDir: string,
  listOthers: () => Targets,
  setTargets: (targets: Targets) => Promise<unknown>
) {
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const { gateway, services } = await readStack(dataDir)
      const targets = Object.entries({ gateway, ...services }).flatMap(([name, { pid, metrics }]): [string, string][] =>
        pid !== null && metrics !== null ? [[name, metrics]] : []
      )
      await setTargets(new Map([...targets, ...listOthers()]))
      await sleep(INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()
  return async () => {
    stopping.abort()
    await running
  }
}
