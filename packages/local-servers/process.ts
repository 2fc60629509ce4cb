import { spawn } from 'node:child_process'
import { closeSync, openSync, readSync, fstatSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, isFree } from './ports.ts'
import { UserError } from './screen.ts'
import { withParentDeathSignal, type User } from './parent-death-signal.ts'

export interface Command {
  file: string
  args: string[]
  env?: NodeJS.ProcessEnv
  user?: User | undefined
}

/** How to run one process. */
export interface ProcessSpec {
  name: string
  /** 0 before the first start; then kept, unless another program takes it. */
  port: number
  /** Default 127.0.0.1. */
  host?: string
  /** Clients know the port: fail rather than choose another one. */
  hasFixedPort?: boolean
  /** Called at each start, so that it contains the current ports of other processes. */
  command: () => Command
  /** Whether it is ready; a rejection counts as false. */
  isReady: () => Promise<boolean>
  logFile: string
  /**
   * It detects the end of this process by its IPC channel; others get a signal from the kernel, if `setpriv` is
   * available.
   */
  ipc?: boolean
  stopSignal?: NodeJS.Signals
  /** Milliseconds from the stop signal to SIGKILL. */
  stopTimeoutMs?: number
}

export interface Running {
  pid: number
  /** Resolves with how it ended, such as `exit code 1` or `SIGKILL`. */
  ended: Promise<string>
  stop: () => Promise<void>
  kill: () => Promise<void>
}

const READY_TIMEOUT_MS = 60_000
const STACK_LINE = / at .*(file:|node:)/

/**
 * Starts a process and returns once it is ready.
 * @param onSpawn is called with the pid before that
 * @throws UserError with its last log lines, if it ends or is not ready within a minute; it is killed then
 */
export async function start (recipe: ProcessSpec, onSpawn?: (running: Running) => void): Promise<Running> {
  for (let attempt = 1;; attempt++) {
    const taken = recipe.port === 0 || !await isFree(recipe.port, recipe.host)
    if (taken && !recipe.hasFixedPort) recipe.port = await freePort(recipe.host)
    const from = sizeOf(recipe.logFile)
    const running = spawnProcess(recipe)
    if (!running) throw new UserError(`${recipe.name}: cannot run ${recipe.command().file}`)
    try {
      onSpawn?.(running)
    } catch (error) {
      await running.kill()
      throw error
    }

    const ended = await Promise.race([running.ended, waitUntilReady(recipe, running)])
    if (ended === undefined) return running
    await running.kill()
    // Another program took the port between its choice and its use.
    if (attempt < 3 && !recipe.hasFixedPort && !await isFree(recipe.port, recipe.host)) continue
    throw new UserError(`${recipe.name} did not start (${ended})${lastLines(recipe.logFile, from)}`)
  }
}

function spawnProcess (recipe: ProcessSpec): Running | undefined {
  const { file, args, env = process.env, user } = recipe.command()
  const log = openSync(recipe.logFile, 'a')
  const { program, rest, ids } = recipe.ipc
    ? { program: file, rest: args, ids: {} }
    : withParentDeathSignal(file, args, recipe.stopSignal, user)
  // In its own process group: Ctrl-C goes to the launcher, which stops processes in order.
  const child = spawn(program, rest, {
    env,
    ...ids,
    detached: true,
    stdio: ['ignore', log, log, ...(recipe.ipc ? ['ipc' as const] : [])]
  })
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
    await Promise.race([
      ended,
      sleep(recipe.stopTimeoutMs ?? 5_000, undefined, { signal: late.signal }).then(kill, () => {})
    ])
    late.abort()
  }
  return { pid, ended, stop, kill }
}

async function waitUntilReady ({ isReady }: ProcessSpec, { ended }: Running): Promise<string | undefined> {
  let over = false
  void ended.then(() => {
    over = true
  })
  // Often at first, for servers that take milliseconds; then less often, to leave the processors to starting processes.
  for (
    let wait = 10, end = Date.now() + READY_TIMEOUT_MS;
    !over && Date.now() < end;
    await sleep(wait), wait = Math.min(wait * 1.2, 100)
  ) {
    if (await isReady().catch(() => false)) return undefined
  }
  return over ? await ended : `not ready within ${READY_TIMEOUT_MS / 1_000} s`
}

function signalGroup (pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(-pid, signal)
  } catch {
    // It has already ended.
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
