import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { migrate, provision } from '@tandem/database-kit'
import { startBalancer, type Balancer } from '@tandem/kubernetes/balancer.ts'
import { createEnvironment } from '@tandem/kubernetes/environment.ts'
import { start, type ProcessSpec } from '@tandem/local-servers/process.ts'
import type { Teardown } from '@tandem/test-kit'
import { serviceNames } from '../../../gateway/routes.ts'
import { highLimits } from '../kit/stack.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const REPLICAS = 2

interface Servers {
  folder: string
  natsUrl: string
  redisUrl: string
  smtpUrl: string
  /** Of the user postgres, on the primary. */
  adminUrl: string
  /** The primary and the standby. */
  databaseHosts: string[]
}

async function startProcess (t: Teardown, folder: string, script: string, name: string, env: NodeJS.ProcessEnv) {
  const spec: ProcessSpec = {
    name,
    port: 0,
    logFile: path.join(folder, 'logs', `${name}.log`),
    ipc: true,
    command: () => ({
      file: process.execPath,
      args: [path.join(root, script)],
      env: { ...process.env, ...env, HOST: '127.0.0.1', PORT: String(spec.port) }
    }),
    isReady: async () => (await fetch(`http://127.0.0.1:${spec.port}/health/ready`)).ok
  }
  const running = await start(spec)
  t.teardown(async () => await running.stop())
  return spec.port
}

/** Starts two of each service and two gateways. Returns the URLs of the gateways. */
export async function startReplicas (t: Teardown, servers: Servers): Promise<string[]> {
  const { folder, natsUrl, redisUrl, smtpUrl, adminUrl, databaseHosts } = servers
  await mkdir(path.join(folder, 'logs'))
  const balancers = new Map<string, Balancer>()
  for (const name of serviceNames) balancers.set(name, await startBalancer(t))
  const environment = {
    ...highLimits,
    ...createEnvironment({
      folder,
      redisUrl,
      smtpUrl,
      publicUrl: 'http://127.0.0.1:8080',
      serviceUrls: [...balancers].map(([name, { url }]) => [name, url])
    }),
    NATS_URL: natsUrl
  }

  for (const [name, { endpoints }] of balancers) {
    const url = await provision(adminUrl, name, randomUUID())
    await migrate(url, path.join(root, 'services', name))
    const DATABASE_URL = url.replace(new URL(url).host, databaseHosts.join())
    for (let replica = 1; replica <= REPLICAS; replica++) {
      const own = { ...environment, DATABASE_URL }
      endpoints.add(await startProcess(t, folder, `services/${name}/main.ts`, `${name}-${replica}`, own))
    }
  }
  const gateways: string[] = []
  for (let replica = 1; replica <= REPLICAS; replica++) {
    const port = await startProcess(t, folder, 'gateway/main.ts', `gateway-${replica}`, environment)
    gateways.push(`http://127.0.0.1:${port}/api/mobile/v1`)
  }
  return gateways
}
