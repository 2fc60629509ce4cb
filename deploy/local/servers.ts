import path from 'node:path'
import { startMailCatcher, type MailCatcher } from '@tandem/local-servers/mail-catcher.ts'
import { postgres } from '@tandem/local-servers/postgres.ts'
import { findPrograms } from '@tandem/local-servers/programs.ts'
import { screen } from '@tandem/local-servers/screen.ts'
import { nats, redis, type Server, type SharedServer } from '@tandem/local-servers/servers.ts'
import { natsAccess, redisAccess, startStreams } from './access.ts'
import { readOrCreateSecret } from './data-dir.ts'
import type { Settings } from './environment.ts'
import { supervise, type Supervised, type SupervisorOptions } from './supervise.ts'
import { waitForAll } from './wait-for-all.ts'

type ServerName = 'postgres' | 'redis' | 'nats'

/** The servers of the system: Postgres, Redis, NATS with its streams, and the mail catcher. */
export interface Servers {
  /** Starts all, or checks that those of the settings can be reached. @throws UserError */
  start: () => Promise<void>
  /** The address for one user of a server, or for its operator. */
  urlOf: (server: ServerName, user?: string) => string
  pidOf: (server: ServerName) => number | undefined
  /** Undefined before the start, and with SMTP_URL. */
  mail: () => MailCatcher | undefined
  end: (how: 'stop' | 'kill') => Promise<void>
}

interface Options {
  root: string
  settings: Settings
  /** The services whose streams are needed. */
  services: string[]
  watcher: SupervisorOptions
}

export function defineServers ({ root, settings, services, watcher }: Options): Servers {
  const { dataDir } = settings
  const servers = new Map<ServerName, { url: () => string, urlOf?: (user: string) => string, process?: Supervised }>()
  let mail: MailCatcher | undefined
  let stopStreams: (() => Promise<void>) | undefined

  const folder = (name: string) => path.join(dataDir, name)
  const logFile = (name: string) => path.join(dataDir, 'logs', `${name}.log`)
  const urlOf = (server: ServerName, user?: string) => {
    const { url, urlOf } = servers.get(server) ?? {}
    return (user === undefined ? undefined : urlOf?.(user)) ?? url?.() ?? ''
  }

  async function serve (
    name: ServerName,
    given: string | undefined,
    define: () => Server | SharedServer | Promise<Server | SharedServer>
  ) {
    const since = performance.now()
    if (given) {
      await (await import('./connectivity.ts')).checkConnectivity(name, given)
      servers.set(name, { url: () => given })
      return screen.done(`${name} is reachable`, since)
    }
    const { recipe, ...addresses } = await define()
    const process = supervise(recipe, watcher)
    servers.set(name, { ...addresses, process })
    await process.start()
    screen.done(name, since)
  }

  async function startNats (program: string) {
    await serve(
      'nats',
      settings.natsUrl,
      async () => nats(folder('nats'), { logFile: logFile('nats'), program, access: await natsAccess(root, dataDir) })
    )
    stopStreams = await startStreams(urlOf('nats', 'streams'), services, settings.streamMaxMib)
  }

  async function startMail () {
    if (settings.smtpUrl) await (await import('./connectivity.ts')).checkConnectivity('smtp', settings.smtpUrl)
    else mail = await startMailCatcher(folder('mails'))
  }

  return {
    async start () {
      const programs = findPrograms({ redis: !settings.redisUrl, nats: !settings.natsUrl })
      await waitForAll([
        serve('redis', settings.redisUrl, () =>
          redis(folder('redis'), {
            logFile: logFile('redis'),
            program: programs.redis,
            access: redisAccess(dataDir)
          })),
        startNats(programs.nats),
        serve('postgres', settings.databaseUrl, async () =>
          await postgres(folder('postgres'), {
            logFile: logFile('postgres'),
            password: readOrCreateSecret(dataDir, 'postgres')
          })),
        startMail()
      ])
    },
    urlOf,
    pidOf: (server) => servers.get(server)?.process?.pid,
    mail: () => mail,
    async end (how) {
      await stopStreams?.()
      await Promise.all([mail?.stop(), ...[...servers.values()].map(async ({ process }) => await process?.[how]())])
    }
  }
}
