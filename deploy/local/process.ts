import { spawn } from 'node:child_process'
import { closeSync, openSync, readSync, fstatSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, isFree } from './ports.ts'
import { Refusal } from './screen.ts'
import { spawnWithParentDeathSignal, type User } from './tether.ts'

export interface Command { file: string, args: string[], env?: NodeJS.ProcessEnv, user?: User | undefined }

/** How to run one process of the system. */
export interface Recipe {
  name: string
  /** 0 before the first start; kept from then on, unless a stranger has taken it meanwhile. */
  port: number
  /** 127.0.0.1 unless said otherwise. */
  host?: string
  /** The port was promised to somebody: rather fail than move. */
  fixed?: boolean
  /** Asked at each start, so that it tells of the neighbours' ports as they are then. */
  command: () => Command
  /** Whether it does its work yet; a rejection counts as no. */
  ready: () => Promise<boolean>
  logFile: string
  /** It notices the end of this process by its IPC channel; the others get a signal from the kernel, where there is `setpriv`. */
  ipc?: boolean
  stopSignal?: NodeJS.Signals
  /** Milliseconds from the stop signal to SIGKILL. */
  timeoutMs?: number
}

export interface Running {
  pid: number
  /** Fulfilled with how it ended, such as `exit code 1` or `SIGKILL`. */
  ended: Promise<string>
  stop: () => Promise<void>
  kill: () => Promise<void>
}

const READY_WITHIN = 60_000
const STACK_LINE = / at .*(file:|node:)/

/**
 * Starts a process and returns once it is ready.
 * @param onSpawn hears the pid before that
 * @throws Refusal with the last lines it wrote, when it ends or stays unready for a minute; nothing of it is left then
 */
export async function start (recipe: Recipe, onSpawn?: (running: Running) => void): Promise<Running> {
  for (let tries = 1; ; tries++) {
    const taken = recipe.port === 0 || !await isFree(recipe.port, recipe.host)
    if (taken && !recipe.fixed) recipe.port = await freePort(recipe.host)
    const from = sizeOf(recipe.logFile)
    const running = launch(recipe)
    if (!running) throw new Refusal(`${recipe.name}: cannot run ${recipe.command().file}`)
    try {
      onSpawn?.(running)
    } catch (error) {
      await running.kill()
      throw error
    }

    const ended = await Promise.race([running.ended, untilReady(recipe, running)])
    if (ended === undefined) return running
    await running.kill()
    // Somebody was faster between the choice of the port and its use.
    if (tries < 3 && !recipe.fixed && !await isFree(recipe.port, recipe.host)) continue
    throw new Refusal(`${recipe.name} did not start (${ended})${lastLines(recipe.logFile, from)}`)
  }
}

function launch (recipe: Recipe): Running | undefined {
  const { file, args, env = process.env, user } = recipe.command()
  const log = openSync(recipe.logFile, 'a')
  const { program, rest, ids } = recipe.ipc ? { program: file, rest: args, ids: {} } : spawnWithParentDeathSignal(file, args, recipe.stopSignal, user)
  // In a group of its own: Ctrl-C is for the launcher, which stops one after the other.
  const child = spawn(program, rest, { env, ...ids, detached: true, stdio: ['ignore', log, log, ...(recipe.ipc ? ['ipc' as const] : [])] })
  closeSync(log)
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  const { pid } = child
  if (pid === undefined) return undefined

  const kill = async () => {
    signalGroup(pid, 'SIGKILL')
    await ended
  }
  const stop = async () => {
    child.kill(recipe.stopSignal ?? 'SIGTERM')
    const late = new AbortController()
    await Promise.race([ended, sleep(recipe.timeoutMs ?? 5_000, undefined, { signal: late.signal }).then(kill, () => {})])
    late.abort()
  }
  return { pid, ended, stop, kill }
}

async function untilReady ({ ready }: Recipe, { ended }: Running): Promise<string | undefined> {
  let over = false
  void ended.then(() => { over = true })
  // Often at first, for the servers, which take milliseconds; then seldom, to leave the processors to those who start.
  for (let wait = 10, end = Date.now() + READY_WITHIN; !over && Date.now() < end; await sleep(wait), wait = Math.min(wait * 1.2, 100)) {
    if (await ready().catch(() => false)) return undefined
  }
  return over ? await ended : `not ready within ${READY_WITHIN / 1_000} s`
}

function signalGroup (pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(-pid, signal)
  } catch {
    // It is gone already.
  }
}

function sizeOf (file: string): number {
  const handle = openSync(file, 'a')
  try {
    return fstatSync(handle).size
  } finally {
    closeSync(handle)
  }
}

function lastLines (file: string, from: number): string {
  const handle = openSync(file, 'r')
  try {
    const text = Buffer.alloc(16_384)
    const size = readSync(handle, text, 0, text.length, Math.max(from, fstatSync(handle).size - text.length))
    const lines = text.toString('utf8', 0, size).trim().split('\n').filter((line) => line && !STACK_LINE.test(line))
    return lines.length === 0 ? '' : `:\n${lines.slice(-8).map((line) => `    ${line}`).join('\n')}`
  } finally {
    closeSync(handle)
  }
}
