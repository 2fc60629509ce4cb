import { setTimeout as sleep } from 'node:timers/promises'
import { writePidFile, removePidFile } from '@tandem/local-servers/pid-files.ts'
import { start, type ProcessSpec, type Running } from '@tandem/local-servers/process.ts'
import { screen } from '@tandem/local-servers/screen.ts'

export interface Supervised {
  name: string
  readonly port: number
  /** Undefined while it is down. */
  readonly pid: number | undefined
  /** The first start. @throws UserError if it does not become ready */
  start: () => Promise<void>
  /** Stops it if it runs, and starts it again. Never throws: it keeps retrying. */
  restart: (reason: string) => Promise<void>
  stop: () => Promise<void>
  kill: () => Promise<void>
}

export interface SupervisorOptions {
  dataDir: string
  /** Called when a process has a new pid or port. */
  onChange: (name: string) => void
}

// The pause before a crashed process is restarted.
const INITIAL_PAUSE_MS = 250
const MAX_PAUSE_MS = 10_000
const HEALTHY_AFTER_MS = 30_000

/**
 * Keeps a process alive: restarts it after an unexpected end, with exponential backoff that resets once it is healthy.
 */
export function supervise (
  recipe: ProcessSpec,
  { dataDir, onChange }: SupervisorOptions
): Supervised {
  let running: Running | undefined
  let pauseMs = INITIAL_PAUSE_MS
  // Each order from outside begins a new turn; what an older one still waits for is not done any more.
  let generation = 0

  const begin = async (mine: number) => {
    const started = performance.now()
    const current = await start(recipe, {
      onSpawn (spawned) {
        running = spawned
        writePidFile(dataDir, recipe.name, spawned.pid)
      },
      onWait (waitsFor) {
        if (mine === generation) screen.step(`${recipe.name}: ${waitsFor}`)
      }
    }).catch((error: unknown) => {
      if (mine === generation) running = undefined
      throw error
    })
    if (mine !== generation) return await current.stop()
    void current.ended.then((how) => {
      if (mine !== generation) return
      running = undefined
      if (performance.now() - started > HEALTHY_AFTER_MS) pauseMs = INITIAL_PAUSE_MS
      void revive(mine, how)
    })
  }

  const revive = async (mine: number, how: string) => {
    for (let reason = how; mine === generation;) {
      screen.warn(`${recipe.name} ended (${reason}), restarting in ${pauseMs} ms`)
      await sleep(pauseMs)
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
      if (mine !== generation) return
      try {
        await begin(mine)
        if (mine !== generation) return
        screen.done(`${recipe.name} is back`)
        return onChange(recipe.name)
      } catch (error) {
        reason = (error as Error).message
      }
    }
  }

  const halt = async (how: 'stop' | 'kill') => {
    generation++
    const last = running
    running = undefined
    await last?.[how]()
    removePidFile(dataDir, recipe.name)
  }

  return {
    name: recipe.name,
    get port() {
      return recipe.port
    },
    get pid() {
      return running?.pid
    },
    start: async () => await begin(++generation),
    restart: async (reason) => {
      await halt('stop')
      const mine = ++generation
      const since = performance.now()
      try {
        await begin(mine)
        if (mine !== generation) return
        screen.done(`${recipe.name} restarted: ${reason}`, since)
        onChange(recipe.name)
      } catch (error) {
        if (mine === generation) void revive(mine, (error as Error).message)
      }
    },
    stop: async () => await halt('stop'),
    kill: async () => await halt('kill')
  }
}
