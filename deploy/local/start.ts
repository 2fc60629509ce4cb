import path from 'node:path'
import { parseArgs } from 'node:util'
import { openDataDir } from './data-dir.ts'
import { readSettings, type Settings } from './environment.ts'
import { writePidFile, removePidFile } from './footprints.ts'
import { followLogs } from './logs.ts'
import { take } from './ports.ts'
import { Refusal, screen } from './screen.ts'
import { defineSystem, type System } from './system.ts'
import { watchSources } from './watch.ts'

// `npm start`: the whole system on this machine, until somebody stops it. `--root` is for this launcher's own tests.

const USUAL_PORT = 8080
const began = performance.now()

try {
  const { values: { fresh, watch, root } } = parseArgs({
    options: {
      fresh: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      root: { type: 'string', default: path.resolve(import.meta.dirname, '../..') }
    }
  })
  // Who changes the code signs in again and again.
  const settings = readSettings(watch ? { LIMIT_PROFILE: 'relaxed', ...process.env } : process.env, root)
  await openDataDir(settings.dataDir, { fresh })
  const port = await choosePort(settings)
  if (fresh && settings.databaseUrl) screen.warn('--fresh leaves the database of DATABASE_URL as it is')
  await run(defineSystem(root, port, settings, { lenient: watch }), { root, watch, settings })
} catch (error) {
  refuse(error)
  process.exit(1)
}

async function run (system: System, { root, watch, settings: { dataDir, rest } }: { root: string, watch: boolean, settings: Settings }) {
  const stopping = new AbortController()
  const names = ['gateway', ...system.services.keys()]
  const undo: Array<() => void> = []

  let failed = false
  const starting = system.start(stopping.signal)
  if (watch) undo.push(followLogs(dataDir, names, { everything: true }), watchSources(root, system, starting))
  const stop = async () => {
    stopping.abort()
    writePidFile(dataDir, 'stopping', process.pid)
    for (const each of undo.splice(0)) each()
    await system.stop()
    // What was just being started when the order came has been started since, or has given up.
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
    refuse(error)
    return await stop()
  }

  if (!watch) undo.push(followLogs(dataDir, names))
  screen.line()
  screen.done('Tandem is ready', began)
  screen.line()
  screen.table(system.addresses())
  screen.line()
  screen.line(`  Data and logs are in ${dataDir}. Ctrl-C stops everything.`)
  screen.line(rest['LIMIT_PROFILE'] === 'relaxed'
    ? '  The limits of /auth are 100 times the documented ones (LIMIT_PROFILE=relaxed).'
    : '  The limits of /auth are the documented ones, such as 3 registrations an hour. For local work: LIMIT_PROFILE=relaxed npm start')
}

/** SIGINT, SIGTERM, the terminal's or the parent's end stop the system; a second order, kill it. */
function stopOn (system: System, stop: () => Promise<void>) {
  let ordered: number | undefined
  const order = (signal: string) => {
    if (ordered === undefined) {
      ordered = performance.now()
      screen.line()
      screen.step(`Stopping (${signal}) …`)
      stop().catch((error: unknown) => {
        refuse(error)
        process.exit(1)
      })
    } else if (performance.now() - ordered > 1_000) {
      // Ctrl-C reaches this process more than once, from the terminal and through npm: only a later one is a second order.
      screen.warn('Killing what is left')
      void system.kill().finally(() => process.exit(1))
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, order)
  process.on('disconnect', () => order('its parent has gone'))
}

async function choosePort ({ port, host }: Settings): Promise<number> {
  for (let next = port ?? USUAL_PORT; ; next++) {
    const error = await take(next, host)
    if (!error) {
      if (!port && next !== USUAL_PORT) screen.warn(`Port ${USUAL_PORT} is taken, so the gateway listens on ${next}`)
      return next
    }
    if (error === 'EACCES') throw new Refusal(`Port ${next} may not be used without more rights: set PORT to one above 1023`)
    if (error !== 'EADDRINUSE') throw new Refusal(`HOST ${host} is not an address of this machine (${error})`)
    if (port) throw new Refusal(`Port ${port} is taken by another program: stop it, or set PORT to another one`)
  }
}

function refuse (error: unknown) {
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (error instanceof Refusal) screen.refuse(message)
  else if (code === 'ENOSPC') screen.refuse('The disk is full: make room, or set DATA_DIR to another disk')
  else if (code?.startsWith('ERR_PARSE_ARGS')) screen.refuse(`${message}. Known are --fresh and --watch`)
  else screen.refuse(stack ?? message)
}
