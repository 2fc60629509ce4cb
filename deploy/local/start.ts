import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { renderUnicodeCompact } from 'uqr'
import { openDataDir } from './data-dir.ts'
import { readSettings, type Settings } from './environment.ts'
import { findLanAddress } from '@tandem/local-servers/lan.ts'
import { writePidFile, removePidFile } from '@tandem/local-servers/pid-files.ts'
import { followLogs } from './logs.ts'
import { reservePort } from '@tandem/local-servers/ports.ts'
import { UserError, screen } from '@tandem/local-servers/screen.ts'
import { ConfigError } from '@tandem/process-kit'
import { defineSystem, type System } from './system.ts'
import { watchSources } from './watch.ts'

// `npm start`: runs the whole system on this machine until it is stopped. `--root` is for the tests of this launcher.

const DEFAULT_PORT = 8080
const DEFAULT_DEV_PORT = 8025
const DEFAULT_CONSOLE_PORT = 8090
const DEGRADED_INTERVAL_MS = 1_000
const MAX_DEGRADED_WAIT_MS = 20_000
const startedAt = performance.now()

try {
  const { values: { fresh, watch, lan, root } } = parseArgs({
    options: {
      fresh: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      lan: { type: 'boolean', default: false },
      root: { type: 'string', default: path.resolve(import.meta.dirname, '../..') }
    }
  })
  // Developers sign in again and again.
  const environment = watch || lan ? { LIMIT_PROFILE: 'relaxed', ...process.env } : process.env
  const lanAddress = lan ? findLanAddress() : undefined
  if (lan && !lanAddress) throw new UserError('--lan needs a network: this machine has no address in one')
  const settings = readSettings(environment, root, lanAddress)
  await openDataDir(settings.dataDir, { fresh })
  const { host } = settings
  const gateway = await choosePort({
    host,
    port: settings.port,
    from: DEFAULT_PORT,
    variable: 'PORT',
    name: 'the gateway'
  })
  const devPage = await choosePort({
    host: lan ? '0.0.0.0' : '127.0.0.1',
    port: settings.devPort,
    from: DEFAULT_DEV_PORT,
    variable: 'DEV_PORT',
    name: 'the developer page'
  })
  const operators = await choosePort({
    host: '127.0.0.1',
    port: settings.consolePort,
    from: DEFAULT_CONSOLE_PORT,
    variable: 'CONSOLE_PORT',
    name: "the operators' console"
  })
  if (fresh && settings.databaseUrl) screen.warn('--fresh does not empty the database of DATABASE_URL')
  const ports = { gateway, devPage, console: operators }
  await run(defineSystem(root, ports, settings, { developing: watch }), { root, watch, settings })
} catch (error) {
  reportError(error)
  process.exit(1)
}

async function run (
  system: System,
  { root, watch, settings: { dataDir, rest, lanAddress } }: { root: string, watch: boolean, settings: Settings }
) {
  const stopping = new AbortController()
  const names = system.processes().map(({ name }) => name)
  const cleanups: Array<() => void> = []

  let failed = false
  const starting = system.start(stopping.signal)
  if (watch) cleanups.push(followLogs(dataDir, names, { everything: true }), watchSources(root, system, starting))
  const stop = async () => {
    stopping.abort()
    writePidFile(dataDir, 'stopping', process.pid)
    for (const each of cleanups.splice(0)) each()
    await system.stop()
    // A process that was starting when the stop was requested has started since, or has failed.
    await starting.catch(() => {})
    await system.stop()
    for (const name of ['launcher', 'stopping']) removePidFile(dataDir, name)
    screen.done('Everything has stopped')
    process.exit(failed ? 1 : 0)
  }
  stopOn(system, stop)

  try {
    await starting
  } catch (error) {
    if (stopping.signal.aborted) return
    failed = true
    reportError(error)
    return await stop()
  }

  if (!watch) cleanups.push(followLogs(dataDir, names))
  await reportDegraded(system, stopping.signal, { maxMs: MAX_DEGRADED_WAIT_MS })
  if (stopping.signal.aborted) return
  screen.line()
  screen.done('Tandem is ready', startedAt)
  screen.line()
  screen.table(system.addresses())
  screen.line()
  const enrollment = system.enrollmentUrl()
  if (enrollment) {
    screen.line('  The console has no operator yet. This link adds your passkey, once within 24 hours:')
    screen.line(`  ${enrollment}`)
    screen.line()
  }
  if (lanAddress) {
    screen.line(renderUnicodeCompact(system.sampleAppUrl()))
    screen.line(`  A phone in the same network opens the sample app with this code. docs/phone.md describes the rest.`)
  }
  screen.line(`  Data and logs are in ${dataDir}. Ctrl-C stops everything.`)
  screen.line(
    rest['LIMIT_PROFILE'] === 'relaxed'
      ? '  The limits of /auth are 100 times the documented ones (LIMIT_PROFILE=relaxed).'
      : '  The limits of /auth are the documented ones, such as 3 registrations an hour. For local development: LIMIT_PROFILE=relaxed npm start'
  )
  // `npm run demo` waits for it.
  process.send?.('ready')
  await reportDegraded(system, stopping.signal)
}

/**
 * Says what services do without at first, such as places that are being loaded, until they have everything or `maxMs`
 * have passed.
 */
async function reportDegraded (system: System, stopping: AbortSignal, { maxMs = Infinity } = {}) {
  const end = performance.now() + maxMs
  for (let last = ''; !stopping.aborted && performance.now() < end; await sleep(DEGRADED_INTERVAL_MS)) {
    const degraded = (await system.listDegraded()).join('\n  ')
    if (degraded === '') return last === '' ? undefined : screen.done('Everything is available')
    if (degraded !== last) screen.step(degraded)
    last = degraded
  }
}

/** SIGINT, SIGTERM, and the end of the terminal or the parent stop the system; a second signal kills it. */
function stopOn (system: System, stop: () => Promise<void>) {
  let requestedAt: number | undefined
  const requestStop = (signal: string) => {
    if (requestedAt === undefined) {
      requestedAt = performance.now()
      screen.line()
      screen.step(`Stopping (${signal}) …`)
      stop().catch((error: unknown) => {
        reportError(error)
        process.exit(1)
      })
    } else if (performance.now() - requestedAt > 1_000) {
      // Ctrl-C reaches this process more than once, from the terminal and through npm: only a later one counts as the
      // second.
      screen.warn('Killing the remaining processes')
      void system.kill().finally(() => process.exit(1))
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, requestStop)
  process.on('disconnect', () => requestStop('the parent process ended'))
}

interface PortChoice {
  host: string
  /** The port that `variable` sets. */
  port: number | undefined
  from: number
  variable: string
  name: string
}

async function choosePort ({ host, port, from, variable, name }: PortChoice): Promise<number> {
  for (let next = port ?? from;; next++) {
    const error = await reservePort(next, host)
    if (!error) {
      if (!port && next !== from) screen.warn(`Port ${from} is taken, so ${name} listens on ${next}`)
      return next
    }
    if (error === 'EACCES') {
      throw new UserError(`Port ${next} needs more privileges: set ${variable} to a port above 1023`)
    }
    if (error !== 'EADDRINUSE') throw new UserError(`HOST ${host} is not an address of this machine (${error})`)
    if (port) {
      throw new UserError(`Port ${port} is taken by another program: stop it, or set ${variable} to another one`)
    }
  }
}

function reportError (error: unknown) {
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (error instanceof UserError || error instanceof ConfigError) screen.error(message)
  else if (code === 'ENOSPC') screen.error('The disk is full: free some space, or set DATA_DIR to another disk')
  else if (code?.startsWith('ERR_PARSE_ARGS')) screen.error(`${message}. The options are --fresh, --watch and --lan`)
  else screen.error(stack ?? message)
}
