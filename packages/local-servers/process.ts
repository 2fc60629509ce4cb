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
  /** Whether it is ready, or what it waits for. A rejection counts as no response. */
  isReady: () => Promise<boolean | string>
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

/** A process that is not ready, while nothing has changed for a long time. */
export class Stalled extends UserError {}

interface StartOptions {
  /** Called with the pid. */
  onSpawn?: (running: Running) => void
  /** Called with what it waits for: after ten seconds, at most every ten when that changes, and every minute. */
  onWait?: (waitsFor: string) => void
  /** How long it can take from one change to the next. */
  stalledAfterMs?: number
}

const STALLED_AFTER_MS = 5 * 60_000
const CHANGE_REPORT_INTERVAL_MS = 10_000
const REPORT_INTERVAL_MS = 60_000
const NO_RESPONSE = 'it does not respond yet'
const STACK_LINE = / at .*(file:|node:)/

/**
 * Starts a process and returns once it is ready, however long it takes, as long as something changes: what it says that
 * it waits for, or its log before it responds.
 * @throws UserError with its last log lines, if it ends; Stalled. It is killed then
 */
export async function start (recipe: ProcessSpec, options: StartOptions = {}): Promise<Running> {
  for (let attempt = 1;; attempt++) {
    const taken = recipe.port === 0 || !await isFree(recipe.port, recipe.host)
    if (taken && !recipe.hasFixedPort) recipe.port = await freePort(recipe.host)
    const from = sizeOf(recipe.logFile)
    const running = spawnProcess(recipe)
    if (!running) throw new UserError(`${recipe.name}: cannot run ${recipe.command().file}`)
    try {
      options.onSpawn?.(running)
    } catch (error) {
      await running.kill()
      throw error
    }

    const failure = await waitUntilReady(recipe, running, options)
    if (!failure) return running
    await running.kill()
    // Another program took the port between its choice and its use.
    if (attempt < 3 && !recipe.hasFixedPort && !await isFree(recipe.port, recipe.host)) continue
    const Failure = failure.hasEnded ? UserError : Stalled
    throw new Failure(`${recipe.name} did not start (${failure.reason})${lastLines(recipe.logFile, from)}`)
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

async function waitUntilReady (
  { isReady, logFile }: ProcessSpec,
  { ended }: Running,
  { onWait, stalledAfterMs = STALLED_AFTER_MS }: StartOptions
) {
  let how: string | undefined
  void ended.then((reason) => {
    how = reason
  })
  let waitsFor = NO_RESPONSE
  let logSize = 0
  let changedAt = Date.now()
  let reported = { waitsFor: '', at: Date.now() }
  // Often at first, for servers that take milliseconds; then less often, to leave the processors to starting processes.
  for (let wait = 10; how === undefined; await sleep(wait), wait = Math.min(wait * 1.2, 100)) {
    const ready = await isReady().catch(() => false)
    if (ready === true) return undefined
    const size = waitsFor === NO_RESPONSE ? sizeOf(logFile) : logSize
    const now = ready || waitsFor
    if (now !== waitsFor || size !== logSize) changedAt = Date.now()
    waitsFor = now
    logSize = size
    if (Date.now() - changedAt > stalledAfterMs) {
      return { hasEnded: false, reason: `nothing has changed for ${stalledAfterMs / 1_000} s: ${waitsFor}` }
    }
    const reportIntervalMs = waitsFor === reported.waitsFor ? REPORT_INTERVAL_MS : CHANGE_REPORT_INTERVAL_MS
    if (Date.now() - reported.at > reportIntervalMs) {
      reported = { waitsFor, at: Date.now() }
      onWait?.(waitsFor)
    }
  }
  return { hasEnded: true, reason: how }
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

/** The last messages of a log, as sentences. */
function lastLines (file: string, from: number): string {
  const handle = openSync(file, 'r')
  try {
    const text = Buffer.alloc(16_384)
    const size = readSync(handle, text, 0, text.length, Math.max(from, fstatSync(handle).size - text.length))
    const lines = text.toString('utf8', 0, size).trim().split('\n').map(describeLine).filter(Boolean)
    return lines.length === 0 ? '' : `:\n${[...new Set(lines)].slice(-8).map((line) => `    ${line}`).join('\n')}`
  } finally {
    closeSync(handle)
  }
}

interface LogLine {
  level?: string
  msg?: string
  err?: { message?: string }
}

/** Empty for lines of stacks, and lines of our own logs that are no warnings or were cut off. */
function describeLine (line: string): string {
  if (!line.startsWith('{')) return STACK_LINE.test(line) ? '' : line
  try {
    const { level = '', msg = '', err } = JSON.parse(line) as LogLine
    return ['warn', 'error', 'fatal'].includes(level) ? [msg, err?.message].filter(Boolean).join(': ') : ''
  } catch {
    return ''
  }
}
