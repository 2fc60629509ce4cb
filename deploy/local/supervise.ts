import { setTimeout as sleep } from 'node:timers/promises'
import { writePidFile, removePidFile } from './footprints.ts'
import { start, type Recipe, type Running } from './process.ts'
import { screen } from './screen.ts'

export interface Supervised {
  name: string
  readonly port: number
  /** Undefined while it is down. */
  readonly pid: number | undefined
  /** The first start. @throws Refusal when it does not come up */
  start: () => Promise<void>
  /** Stops it, if it runs, and starts it again. Never throws: it goes on trying. */
  restart: (reason: string) => Promise<void>
  stop: () => Promise<void>
  kill: () => Promise<void>
}

export interface Watcher {
  dataDir: string
  /** A process has another pid or port than before. */
  onChange: (name: string) => void
  /** Milliseconds before the first, and at most before any, new start of a process that crashed. */
  backOff?: { first: number, most: number, healthyAfter: number }
}

const BACK_OFF = { first: 250, most: 10_000, healthyAfter: 30_000 }

/** Keeps a process alive: when it ends unasked it is started again, after a pause that doubles each time and shrinks once it lives. */
export function supervise (recipe: Recipe, { dataDir, onChange, backOff = BACK_OFF }: Watcher): Supervised {
  let running: Running | undefined
  let pause = backOff.first
  // Each order from outside begins a new turn; what an older one still waits for is not done any more.
  let turn = 0

  const begin = async (mine: number) => {
    const started = performance.now()
    const current = await start(recipe, (spawned) => {
      running = spawned
      writePidFile(dataDir, recipe.name, spawned.pid)
    }).catch((error: unknown) => {
      if (mine === turn) running = undefined
      throw error
    })
    if (mine !== turn) return await current.stop()
    void current.ended.then((how) => {
      if (mine !== turn) return
      running = undefined
      if (performance.now() - started > backOff.healthyAfter) pause = backOff.first
      void revive(mine, how)
    })
  }

  const revive = async (mine: number, how: string) => {
    for (let reason = how; mine === turn;) {
      screen.warn(`${recipe.name} ended (${reason}), again in ${pause} ms`)
      await sleep(pause)
      pause = Math.min(pause * 2, backOff.most)
      if (mine !== turn) return
      try {
        await begin(mine)
        if (mine !== turn) return
        screen.done(`${recipe.name} is back`)
        return onChange(recipe.name)
      } catch (error) {
        reason = (error as Error).message
      }
    }
  }

  const halt = async (how: 'stop' | 'kill') => {
    turn++
    const last = running
    running = undefined
    await last?.[how]()
    removePidFile(dataDir, recipe.name)
  }

  return {
    name: recipe.name,
    get port () { return recipe.port },
    get pid () { return running?.pid },
    start: async () => await begin(++turn),
    restart: async (reason) => {
      await halt('stop')
      const mine = ++turn
      const since = performance.now()
      try {
        await begin(mine)
        if (mine !== turn) return
        screen.done(`${recipe.name} restarted: ${reason}`, since)
        onChange(recipe.name)
      } catch (error) {
        if (mine === turn) void revive(mine, (error as Error).message)
      }
    },
    stop: async () => await halt('stop'),
    kill: async () => await halt('kill')
  }
}
