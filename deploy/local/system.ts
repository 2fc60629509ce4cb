import { rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBundles } from '@tandem/bundle/cached.ts'
import { listMains, listServices } from '@tandem/bundle/mains.ts'
import { freePort } from '@tandem/local-servers/ports.ts'
import { Stalled, type ProcessSpec } from '@tandem/local-servers/process.ts'
import { UserError, screen } from '@tandem/local-servers/screen.ts'
import { isWildcard, origin, withoutPassword } from './addresses.ts'
import { readOrCreateSecret, writeAtomically } from './data-dir.ts'
import type { DeveloperTools } from './developer-tools.ts'
import type { Settings } from './environment.ts'
import { readHealth } from './health.ts'
import { inviteFirstOperator } from './invite-operator.ts'
import { createEnvironments } from './process-environment.ts'
import { defineServers } from './servers.ts'
import { supervise, type Supervised } from './supervise.ts'
import { waitForAll } from './wait-for-all.ts'

export interface System {
  gateway: Supervised
  services: Map<string, Supervised>
  /** All of them: the gateway, the console if there is one, and the services. */
  processes: () => Supervised[]
  /** Starts everything in dependency order. @throws UserError at the first failure; call `stop` then */
  start: (signal: AbortSignal) => Promise<void>
  /** What each service does without, such as places that are still being loaded. */
  listDegraded: () => Promise<string[]>
  /** Runs the pending migrations of a service. */
  migrate: (service: string) => Promise<void>
  stop: () => Promise<void>
  kill: () => Promise<void>
  addresses: () => string[][]
  sampleAppUrl: () => string
  /** The link with which the first operator of the console adds a passkey; undefined if there is one. */
  enrollmentUrl: () => string | undefined
}

const OPERATOR_CLI = 'operator-cli'
const MIGRATION_TIMEOUT_MS = 3_000

type Migrate = (url: string, folder: string) => Promise<void>
type Provision = (adminUrl: string, service: string, password: string) => Promise<string>

interface Ports {
  gateway: number
  devPage: number
  console: number
}

interface SystemOptions {
  /** Each process runs its sources, and a service that does not start stops nothing. */
  developing?: boolean
}

/** The whole system on this machine: servers, services, gateway. */
export function defineSystem (
  root: string,
  ports: Ports,
  settings: Settings,
  { developing = false }: SystemOptions = {}
): System {
  const { dataDir } = settings
  const names = listServices(root)
  const databases = new Map<string, string>()
  const metricsPorts = new Map<string, number>()
  let tools: DeveloperTools | undefined
  let complete = false
  let starting: Promise<void> = Promise.resolve()

  const watcher = {
    dataDir,
    onChange () {
      if (!complete) return
      updateGateway()
      try {
        writeStack()
      } catch (error) {
        screen.warn(`stack.json is out of date: ${(error as Error).message}`)
      }
    }
  }
  const servers = defineServers({ root, settings, services: names, watcher })
  const environments = createEnvironments({
    settings,
    servers,
    gatewayPort: ports.gateway,
    devPagePort: ports.devPage,
    consolePort: ports.console,
    metricsPortOf: (name) => metricsPorts.get(name),
    databaseOf: (service) => databases.get(service),
    pushEnvironment: () => tools?.pushEnvironment,
    storeEnvironment: () => tools?.storeEnvironment
  })

  const mains = listMains(root)
  const recipes = names.map((name) => nodeProcess(name, ({ port }) => environments.service(name, port)))
  const services = new Map(recipes.map((recipe) => [recipe.name, supervise(recipe, watcher)]))

  const knownPorts = new Map<string, number>()
  const readPorts = () => {
    for (const { name, port } of services.values()) knownPorts.set(name, port)
    return knownPorts
  }
  const gateway = supervise(
    nodeProcess('gateway', () => environments.gateway(readPorts()), {
      port: ports.gateway,
      host: settings.host,
      hasFixedPort: true
    }),
    watcher
  )
  const operators = supervise(
    nodeProcess('console', () => environments.console(readPorts()), {
      port: ports.console,
      hasFixedPort: true
    }),
    watcher
  )
  const doors = 'console' in mains ? [gateway, operators] : [gateway]
  let enrollmentUrl: string | undefined

  // A service keeps its port, unless another program takes it while the service is down; then the gateway restarts with
  // the new one.
  function updateGateway () {
    const moved = [...services.values()].filter(({ name, port }) => port !== knownPorts.get(name))
    if (moved.length === 0) return
    for (const door of doors) void door.restart(`${moved.map(({ name }) => name).join(', ')} moved to another port`)
  }

  function nodeProcess (
    name: string,
    environment: (recipe: ProcessSpec) => NodeJS.ProcessEnv,
    place: Partial<ProcessSpec> = {}
  ): ProcessSpec {
    const recipe: ProcessSpec = {
      name,
      port: 0,
      logFile: path.join(dataDir, 'logs', `${name}.log`),
      ipc: true,
      stopTimeoutMs: 5_000,
      command: () => ({ file: process.execPath, args: [scriptOf(name)], env: environment(recipe) }),
      isReady: async () => {
        const { isReady, failing } = await readHealth(recipe)
        return isReady || failing
      },
      ...place
    }
    return recipe
  }

  let bundles: string | undefined
  const scriptOf = (name: string) => bundles ? path.join(bundles, `${name}.mjs`) : path.join(root, mains[name] ?? '')

  async function bundleScripts () {
    try {
      bundles = await openBundles(root, mains)
    } catch (error) {
      throw new UserError((error as Error).message, { cause: error })
    }
  }

  async function migrate (name: string) {
    const kit = await import('@tandem/database-kit') as { migrate: Migrate, provision: Provision }
    try {
      if (!databases.has(name)) {
        databases.set(
          name,
          await kit.provision(servers.urlOf('postgres'), name, readOrCreateSecret(dataDir, `postgres.${name}`))
        )
      }
      await kit.migrate(databases.get(name) ?? '', path.join(root, 'services', name))
    } catch (error) {
      const { message, cause } = error as Error
      throw new UserError(
        `${name}'s schema: ${[message, (cause as Error | undefined)?.message].filter(Boolean).join(': ')}`,
        { cause: error }
      )
    }
  }

  async function startProcesses (signal: AbortSignal) {
    for (const name of ['gateway', 'console', ...names]) if (settings.metrics) metricsPorts.set(name, await freePort())
    // Chosen before anything starts, because the gateway starts in parallel and needs the ports.
    for (const recipe of recipes) recipe.port = await freePort()
    await waitForAll([...services.values(), ...doors].map(async (process) => {
      const since = performance.now()
      try {
        await process.start().catch(async (error: Error) => {
          if (developing || signal.aborted || error instanceof Stalled) throw error
          // On a busy machine another process can be too slow for a service's timeouts.
          screen.warn(`${error.message}\n  Retrying …`)
          await process.start()
        })
        screen.done(process.name, since)
      } catch (error) {
        if (!developing) throw error
        screen.fail(`${(error as Error).message}\n  It starts again when a file changes.`)
      }
    }))
  }

  async function startAll (signal: AbortSignal) {
    screen.step('Starting the servers …')
    await waitForAll([servers.start(), ...(developing ? [] : [bundleScripts()])])
    signal.throwIfAborted()
    screen.step('Running migrations …')
    await waitForAll(names.map(migrate))
    signal.throwIfAborted()
    // Imported lazily: it takes a moment, and the servers start meanwhile.
    const { startDeveloperTools } = await import('./developer-tools.ts')
    tools = await startDeveloperTools({
      host: settings.lanAddress ? '0.0.0.0' : '127.0.0.1',
      port: ports.devPage,
      dataDir,
      natsUrl: servers.urlOf('nats', 'operator'),
      gatewayUrl: (hostname) => origin(gateway.port, isWildcard(settings.host) ? hostname : settings.host),
      mail: servers.mail(),
      sendsRealPushes: settings.rest['FCM_SERVICE_ACCOUNT_FILE'] !== undefined,
      hasRealStores: ['SUBSCRIPTION_PLANS', 'APPLE_BUNDLE_ID', 'PLAY_PACKAGE', 'REVENUECAT_SECRET_KEY']
        .some((name) => settings.rest[name] !== undefined)
    })
    screen.step('Starting the services and the gateway …')
    const invited = doors.length > 1
      ? inviteFirstOperator(
        scriptOf(OPERATOR_CLI),
        environments.service('identity', services.get('identity')?.port ?? 0),
        signal
      )
      : undefined
    await startProcesses(signal)
    enrollmentUrl = await invited
    signal.throwIfAborted()
    complete = true
    updateGateway()
    writeStack()
  }

  function writeStack () {
    const place = ({ name, port, pid }: Supervised, host?: string) => ({
      url: origin(port, host),
      pid: pid ?? null,
      metrics: metricsOf(name) || null
    })
    const server = (name: 'postgres' | 'redis' | 'nats') => ({
      url: servers.urlOf(name),
      pid: servers.pidOf(name) ?? null
    })
    const mail = servers.mail()
    const devPageUrl = environments.devPageUrl('127.0.0.1')
    writeAtomically(
      path.join(dataDir, 'stack.json'),
      JSON.stringify(
        {
          gateway: place(gateway, settings.host),
          ...(doors.length > 1 && { console: { ...place(operators), url: environments.consoleUrl } }),
          services: Object.fromEntries([...services.values()].map((service) => [service.name, place(service)])),
          postgres: server('postgres'),
          redis: server('redis'),
          nats: server('nats'),
          mail: mail ? { smtpUrl: mail.smtpUrl, url: devPageUrl } : null,
          devPage: { url: devPageUrl },
          settings: environments.operatorSettings()
        },
        undefined,
        2
      )
    )
  }

  async function end (how: 'stop' | 'kill') {
    complete = false
    rmSync(path.join(dataDir, 'stack.json'), { force: true })
    await Promise.all(doors.map(async (door) => await door[how]()))
    await Promise.all([...services.values()].map(async (service) => await service[how]()))
    // Lets a running migration finish, and lets a process that is just starting get its pid.
    if (how === 'stop') await Promise.race([starting, sleep(MIGRATION_TIMEOUT_MS)])
    await Promise.all([tools?.stop(), servers.end(how)])
  }

  return {
    gateway,
    services,
    processes: () => [...doors, ...services.values()],
    migrate,
    listDegraded: async () => {
      const found = await Promise.all(recipes.map(async (recipe) => {
        const { failing } = await readHealth(recipe).catch(() => ({ failing: '' }))
        return failing ? [`${recipe.name}: ${failing}`] : []
      }))
      return found.flat()
    },
    async start (signal) {
      const work = startAll(signal)
      starting = work.catch(() => {})
      await work
    },
    stop: async () => await end('stop'),
    kill: async () => await end('kill'),
    enrollmentUrl: () => enrollmentUrl,
    sampleAppUrl: () => `${environments.devPageUrl()}/app/`,
    addresses: () => [
      ['gateway', environments.publicUrl, metricsOf('gateway')],
      ...(doors.length > 1 ? [['console', environments.consoleUrl, 'for operators, with a passkey']] : []),
      ...names.map((name) => [name, origin(services.get(name)?.port ?? 0), metricsOf(name)]),
      ...(['postgres', 'redis', 'nats'] as const).map((name) => [name, withoutPassword(servers.urlOf(name)), '']),
      [
        'mail',
        servers.mail()?.smtpUrl ?? withoutPassword(settings.smtpUrl ?? ''),
        servers.mail() ? 'accepts every mail, and delivers none' : ''
      ],
      ['developers', environments.devPageUrl(), 'mails, pushes, events, requests'],
      ['sample app', `${environments.devPageUrl()}/app/`, '']
    ]
  }

  function metricsOf (name: string): string {
    return settings.metrics ? `http://127.0.0.1:${metricsPorts.get(name)}/metrics` : ''
  }
}
