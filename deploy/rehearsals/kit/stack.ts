import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

interface Running {
  url: string
  /** Null while it restarts. */
  pid: number | null
  /** Null unless METRICS_PORT is 0. */
  metrics: string | null
}

interface Server {
  url: string
  /** Null if it was not started by the launcher. */
  pid: number | null
}

/** The addresses that the launcher writes to stack.json once everything is ready. */
export interface Stack {
  gateway: Running
  /** The operators' console. */
  console: { url: string, pid: number | null }
  services: Record<string, Running>
  postgres: Server
  redis: Server
  nats: Server
  mail: { url: string }
  devPage: { url: string }
}

// All load comes from one address, so the limits of a client are on, and higher than the load.
const limits = [
  'FLOOD_LIMIT',
  'LIMIT_WRITES',
  'LIMIT_POSTS',
  'LIMIT_COMMENTS',
  'LIMIT_FOLLOWS',
  ...['CHECK_EMAIL', 'REGISTER', 'LOGIN', 'VERIFY_EMAIL'].map((route) => `LIMIT_AUTH_${route}`)
]
export const highLimits = Object.fromEntries(limits.map((name) => [name, '9999999/1h']))

/** By then what a start leaves to do later, such as the places of profile, is done. */
export const START_SETTLE_MS = 65_000

/**
 * Starts the whole system on free ports with empty data and with limits that no load reaches, and stops it after `work`.
 * @param environment more variables; they can set the limits again
 * @param watchStart is called before anything has started
 */
export async function withStack (
  work: (stack: Stack, dataDir: string) => Promise<void>,
  environment: Record<string, string> = {},
  watchStart: (dataDir: string) => void = () => {}
) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-bench-'))
  try {
    watchStart(dataDir)
    await runStack(dataDir, async (stack) => await work(stack, dataDir), environment)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Like `withStack`, on the data of `dataDir`, which it keeps. */
export async function runStack (
  dataDir: string,
  work: (stack: Stack) => Promise<void>,
  environment: Record<string, string> = {}
) {
  const launcher = spawn(process.execPath, ['deploy/local/start.ts'], {
    // Without a PORT, the gateway takes a free one.
    env: { ...process.env, ...highLimits, PORT: '', DATA_DIR: dataDir, ...environment },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  const ended = once(launcher, 'exit')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => launcher.kill(signal))
  try {
    await work(
      await Promise.race([
        readStack(dataDir),
        ended.then(() => {
          throw new Error('the system did not start')
        })
      ])
    )
  } finally {
    launcher.kill('SIGTERM')
    await ended
  }
}

/** The URL of one service's schema, with the rights of the owner. */
export function urlOfSchema ({ postgres }: Stack, service: string) {
  const url = new URL(postgres.url)
  url.searchParams.set('options', `-c search_path=${service}`)
  return url.href
}

/** Waits until the system is ready. Read it again after a restart, because a restarted process has another pid. */
export async function readStack (dataDir: string): Promise<Stack> {
  for (;;) {
    const text = await readFile(path.join(dataDir, 'stack.json'), 'utf8').catch(() => undefined)
    if (text) return JSON.parse(text) as Stack
    await sleep(200)
  }
}
