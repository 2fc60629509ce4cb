import { existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { natsAccess, needsRedis, redisAccess, startStreams } from './access.ts'
import { readOrCreateSecret, writeAtomically } from './data-dir.ts'
import type { DeveloperTools } from './developer-tools.ts'
import type { Settings } from './environment.ts'
import { startMailCatcher, type MailCatcher } from '@tandem/local-servers/mail-catcher.ts'
import { freePort } from '@tandem/local-servers/ports.ts'
import { findPrograms } from '@tandem/local-servers/programs.ts'
import type { ProcessSpec } from '@tandem/local-servers/process.ts'
import { rootKeyOf } from './root-key.ts'
import { UserError, screen } from '@tandem/local-servers/screen.ts'
import { nats, postgres, redis, type Server, type SharedServer } from '@tandem/local-servers/servers.ts'
import { supervise, type Supervised } from './supervise.ts'

export interface System {
  gateway: Supervised
  services: Map<string, Supervised>
  /** Starts everything in dependency order. @throws UserError at the first failure; call `stop` then */
  start: (signal: AbortSignal) => Promise<void>
  /** Runs the pending migrations of a service. */
  migrate: (service: string) => Promise<void>
  stop: () => Promise<void>
  kill: () => Promise<void>
  addresses: () => string[][]
  sampleAppUrl: () => string
}

const MIGRATION_TIMEOUT_MS = 3_000

type Migrate = (url: string, folder: string) => Promise<void>
type Provision = (adminUrl: string, service: string, password: string) => Promise<string>

interface Ports {
  gateway: number
  devPage: number
}

/** The whole system on this machine: servers, services, gateway. @param lenient continue if a service does not start */
export function defineSystem (root: string, ports: Ports, settings: Settings, { lenient = false } = {}): System {
  const { dataDir } = settings
  const names = readdirSync(path.join(root, 'services')).filter((name) =>
    existsSync(path.join(root, 'services', name, 'main.ts'))
  ).sort()
  const servers = new Map<string, { url: () => string, urlOf?: (user: string) => string, process?: Supervised }>()
  const databases = new Map<string, string>()
  const metricsPorts = new Map<string, number>()
  let mail: MailCatcher | undefined
  let tools: DeveloperTools | undefined
  let stopStreams: (() => Promise<void>) | undefined
  let complete = false
  let starting: Promise<void> = Promise.resolve()

  const logFile = (name: string) => path.join(dataDir, 'logs', `${name}.log`)
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

  const rootKey = rootKeyOf(dataDir)
  const addressFor = (server: string, user: string) =>
    servers.get(server)?.urlOf?.(user) ?? servers.get(server)?.url() ?? ''
  const publicUrl = () => settings.publicUrl ?? origin(settings.lanAddress ?? settings.host, gateway.port)
  const devPageUrl = (host = settings.lanAddress) => origin(host, ports.devPage)
  const mediaSigningKey = () => ({
    MEDIA_SIGNING_KEY: settings.rest['MEDIA_SIGNING_KEY'] ?? readOrCreateSecret(dataDir, 'media')
  })
  const signsMedia = (name: string) => name === 'social' || name === 'fitmatch'
  const common = (name: string): NodeJS.ProcessEnv => ({
    // As in the images: several threads decode images, and malloc would keep memory for each.
    MALLOC_ARENA_MAX: '2',
    MAIL_FROM: 'Tandem <no-reply@tandem.localhost>',
    MEDIA_DIR: path.join(dataDir, 'media'),
    ...settings.rest,
    IDENTITY_ROOT_PUBLIC_KEYS: rootKey.publicKey,
    REDIS_URL: needsRedis(name) ? addressFor('redis', name) : undefined,
    NATS_URL: addressFor('nats', name),
    SMTP_URL: settings.smtpUrl ?? mail?.smtpUrl,
    PUBLIC_URL: publicUrl(),
    CDN_URL: settings.cdnUrl ?? `${publicUrl()}/media`,
    ...(settings.metrics ? { METRICS_PORT: String(metricsPorts.get(name)) } : {})
  })

  const recipes = names.map((name) =>
    nodeProcess(name, `services/${name}/main.ts`, (recipe) => ({
      ...common(name),
      ...(name === 'identity'
        ? {
          LEDGER_DIR: path.join(dataDir, 'ledger'),
          SECRET: settings.rest['SECRET'] ?? readOrCreateSecret(dataDir, 'identity'),
          IDENTITY_ROOT_PRIVATE_KEY: rootKey.privateKey
        }
        : {}),
      ...(signsMedia(name) ? mediaSigningKey() : {}),
      ...(name === 'notification' ? tools?.pushEnvironment : {}),
      DATABASE_URL: databases.get(name),
      HOST: '127.0.0.1',
      PORT: String(recipe.port),
      // Only the gateway connects to a service; its X-Forwarded-For is trusted.
      TRUST_PROXY: '127.0.0.1'
    }))
  )
  const services = new Map(recipes.map((recipe) => [recipe.name, supervise(recipe, watcher)]))

  const knownPorts = new Map<string, number>()
  const gateway = supervise(
    nodeProcess('gateway', 'gateway/main.ts', (recipe) => {
      for (const { name, port } of services.values()) knownPorts.set(name, port)
      return {
        ...common('gateway'),
        ...mediaSigningKey(),
        ...Object.fromEntries(
          [...services.values()].map(({ name, port }) => [`${name.toUpperCase()}_URL`, origin(undefined, port)])
        ),
        HOST: settings.host,
        PORT: String(recipe.port),
        CORS_ORIGINS: [
          settings.rest['CORS_ORIGINS'],
          // The sample app is on the developer page's server.
          ...new Set([devPageUrl(), devPageUrl('127.0.0.1'), devPageUrl('localhost')])
        ].filter(Boolean).join(','),
        TRUST_PROXY: settings.trustProxy
      }
    }, { port: ports.gateway, host: settings.host, hasFixedPort: true }),
    watcher
  )

  // A service keeps its port, unless another program takes it while the service is down; then the gateway restarts with
  // the new one.
  function updateGateway () {
    const moved = [...services.values()].filter(({ name, port }) => port !== knownPorts.get(name))
    if (moved.length > 0) void gateway.restart(`${moved.map(({ name }) => name).join(', ')} moved to another port`)
  }

  function nodeProcess (
    name: string,
    script: string,
    environment: (recipe: ProcessSpec) => NodeJS.ProcessEnv,
    place: Partial<ProcessSpec> = {}
  ): ProcessSpec {
    const recipe: ProcessSpec = {
      name,
      port: 0,
      logFile: logFile(name),
      ipc: true,
      stopTimeoutMs: 5_000,
      command: () => ({ file: process.execPath, args: [path.join(root, script)], env: environment(recipe) }),
      isReady: async () =>
        (await fetch(`${origin(recipe.host, recipe.port)}/health/ready`, { signal: AbortSignal.timeout(2_000) })).ok,
      ...place
    }
    return recipe
  }

  async function startServers () {
    const programs = findPrograms({ redis: !settings.redisUrl, nats: !settings.natsUrl })
    const serve = async (
      name: string,
      given: string | undefined,
      make: () => Server | Promise<Server | SharedServer>
    ) => {
      const since = performance.now()
      if (given) {
        await (await import('./connectivity.ts')).checkConnectivity(name, given)
        servers.set(name, { url: () => given })
        return screen.done(`${name} is reachable`, since)
      }
      const { recipe, ...addresses } = await make()
      const process = supervise(recipe, watcher)
      servers.set(name, { ...addresses, process })
      await process.start()
      screen.done(name, since)
    }
    const folder = (name: string) => path.join(dataDir, name)
    await all([
      serve(
        'redis',
        settings.redisUrl,
        () =>
          redis(folder('redis'), { logFile: logFile('redis'), program: programs.redis, access: redisAccess(dataDir) })
      ),
      serve(
        'nats',
        settings.natsUrl,
        async () =>
          nats(folder('nats'), {
            logFile: logFile('nats'),
            program: programs.nats,
            access: await natsAccess(root, dataDir)
          })
      )
        .then(async () => {
          stopStreams = await startStreams(addressFor('nats', 'streams'), names)
        }),
      serve(
        'postgres',
        settings.databaseUrl,
        () =>
          postgres(folder('postgres'), {
            logFile: logFile('postgres'),
            password: readOrCreateSecret(dataDir, 'postgres')
          })
      ),
      settings.smtpUrl
        ? import('./connectivity.ts').then(async ({ checkConnectivity }) =>
          await checkConnectivity('smtp', settings.smtpUrl ?? '')
        )
        : startMailCatcher(folder('mails')).then((catcher) => {
          mail = catcher
        })
    ])
  }

  async function migrate (name: string) {
    const kit = await import('@tandem/database-kit') as { migrate: Migrate, provision: Provision }
    const admin = servers.get('postgres')?.url() ?? ''
    try {
      if (!databases.has(name)) {
        databases.set(name, await kit.provision(admin, name, readOrCreateSecret(dataDir, `postgres.${name}`)))
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
    for (const name of ['gateway', ...names]) if (settings.metrics) metricsPorts.set(name, await freePort())
    // Chosen before anything starts, because the gateway starts in parallel and needs the ports.
    for (const recipe of recipes) recipe.port = await freePort()
    await all([...services.values(), gateway].map(async (process) => {
      const since = performance.now()
      try {
        await process.start().catch(async (error: Error) => {
          if (lenient || signal.aborted) throw error
          // On a busy machine another process can be too slow for a service's timeouts.
          screen.warn(`${error.message}\n  Retrying …`)
          await process.start()
        })
        screen.done(process.name, since)
      } catch (error) {
        if (!lenient) throw error
        screen.fail(`${(error as Error).message}\n  It starts again when a file changes.`)
      }
    }))
  }

  async function startAll (signal: AbortSignal) {
    screen.step('Starting the servers …')
    await startServers()
    signal.throwIfAborted()
    screen.step('Running migrations …')
    await all(names.map(migrate))
    signal.throwIfAborted()
    // Imported lazily: it takes a moment, and the servers start meanwhile.
    const { startDeveloperTools } = await import('./developer-tools.ts')
    tools = await startDeveloperTools({
      host: settings.lanAddress ? '0.0.0.0' : '127.0.0.1',
      port: ports.devPage,
      dataDir,
      natsUrl: addressFor('nats', 'operator'),
      gatewayUrl: (hostname) => origin(isWildcard(settings.host) ? hostname : settings.host, gateway.port),
      mail,
      sendsRealPushes: settings.rest['FCM_SERVICE_ACCOUNT_FILE'] !== undefined
    })
    screen.step('Starting the services and the gateway …')
    await startProcesses(signal)
    signal.throwIfAborted()
    complete = true
    updateGateway()
    writeStack()
  }

  function writeStack () {
    const place = ({ port, pid }: Supervised, host?: string) => ({ url: origin(host, port), pid: pid ?? null })
    const server = (name: string) => ({ url: servers.get(name)?.url(), pid: servers.get(name)?.process?.pid ?? null })
    writeAtomically(
      path.join(dataDir, 'stack.json'),
      JSON.stringify(
        {
          gateway: place(gateway, settings.host),
          services: Object.fromEntries([...services.values()].map((service) => [service.name, place(service)])),
          postgres: server('postgres'),
          redis: server('redis'),
          nats: server('nats'),
          mail: mail ? { smtpUrl: mail.smtpUrl, url: devPageUrl('127.0.0.1') } : null,
          devPage: { url: devPageUrl('127.0.0.1') }
        },
        undefined,
        2
      )
    )
  }

  async function end (how: 'stop' | 'kill') {
    complete = false
    rmSync(path.join(dataDir, 'stack.json'), { force: true })
    await gateway[how]()
    await Promise.all([...services.values()].map(async (service) => await service[how]()))
    // Lets a running migration finish, and lets a process that is just starting get its pid.
    if (how === 'stop') await Promise.race([starting, sleep(MIGRATION_TIMEOUT_MS)])
    await stopStreams?.()
    await Promise.all([
      tools?.stop(),
      mail?.stop(),
      ...[...servers.values()].map(async ({ process }) => await process?.[how]())
    ])
  }

  return {
    gateway,
    services,
    migrate,
    async start (signal) {
      const work = startAll(signal)
      starting = work.catch(() => {})
      await work
    },
    stop: async () => await end('stop'),
    kill: async () => await end('kill'),
    sampleAppUrl: () => `${devPageUrl()}/app/`,
    addresses: () => [
      ['gateway', publicUrl(), metricsOf('gateway')],
      ...names.map((name) => [name, origin(undefined, services.get(name)?.port ?? 0), metricsOf(name)]),
      ...['postgres', 'redis', 'nats'].map((name) => [name, withoutPassword(servers.get(name)?.url()), '']),
      [
        'mail',
        mail?.smtpUrl ?? withoutPassword(settings.smtpUrl),
        mail ? 'accepts every mail, and delivers none' : ''
      ],
      ['developers', devPageUrl(), 'mails, pushes, events, requests'],
      ['sample app', `${devPageUrl()}/app/`, '']
    ]
  }

  function metricsOf (name: string): string {
    return settings.metrics ? `http://127.0.0.1:${metricsPorts.get(name)}/metrics` : ''
  }
}

/** Like Promise.all, but waits for all: so a following stop finds none that is still starting. */
async function all (work: Array<Promise<unknown>>) {
  const results = await Promise.allSettled(work)
  const reasons = results.flatMap((result) => result.status === 'rejected' ? [result.reason as Error] : [])
  if (reasons.length > 1 && reasons.every((reason) => reason instanceof UserError)) {
    throw new UserError(reasons.map(({ message }) => message).join('\n  '))
  }
  if (reasons.length > 0) throw reasons[0]
}

const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'

function origin (host = '127.0.0.1', port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

function withoutPassword (url = ''): string {
  return url.replace(/:[^:@/]+@/, '@')
}
