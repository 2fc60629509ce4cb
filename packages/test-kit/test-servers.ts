import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startMailCatcher, type Mail } from '@tandem/local-servers/mail-catcher.ts'
import { start, type ProcessSpec, type Running } from '@tandem/local-servers/process.ts'
import { findPrograms } from '@tandem/local-servers/programs.ts'
import { nats, redis, type Server, type SharedServer } from '@tandem/local-servers/servers.ts'

import type { Teardown } from './teardown.ts'

/** A server for one test, which can be killed and restarted. It keeps its address and is removed after the test. */
export interface TestServer {
  url: string
  readonly pid: number | undefined
  /** Kills it with SIGKILL, as a crash does; its data stays. */
  kill: () => Promise<void>
  /** Shuts it down gracefully; its data stays. */
  stop: () => Promise<void>
  /** Starts it again with its data; resolves once it is ready. */
  start: () => Promise<void>
  /** Deletes its data, as a lost disk does. If it runs, it is killed first and restarted empty. */
  wipe: () => Promise<void>
}

export interface SharedTestServer extends TestServer {
  /** The address for one user; the same for all without `rights`. */
  urlOf: (user: string) => string
}

interface Rights {
  /**
   * Its users and permissions, in its own configuration format; `url` is then the operator's. Without it every client
   * has all permissions.
   */
  rights?: string
}

/** NATS with JetStream. */
export async function startNats (t: Teardown, { rights }: Rights = {}): Promise<SharedTestServer> {
  const program = findPrograms({ redis: false }).nats
  return await startSharedServer(t, (dir, logFile) => nats(dir, { logFile, program, access: accessOf(rights) }))
}

/** Redis, or Valkey if that is installed instead. */
export async function startRedis (t: Teardown, { rights }: Rights = {}): Promise<SharedTestServer> {
  const program = findPrograms({ nats: false }).redis
  return await startSharedServer(t, (dir, logFile) => redis(dir, { logFile, program, access: accessOf(rights) }))
}

const accessOf = (rights: string | undefined) =>
  rights === undefined ? undefined : { rights, passwordOf: (user: string) => `secret-of-${user}` }

async function startSharedServer (
  t: Teardown,
  make: (dir: string, logFile: string) => SharedServer
): Promise<SharedTestServer> {
  let urlOf: SharedServer['urlOf'] = () => ''
  const server = await startTestServer(t, (dir, logFile) => {
    const made = make(dir, logFile)
    urlOf = made.urlOf
    return made
  })
  return Object.assign(server, { urlOf })
}

export interface TestMail extends Omit<TestServer, 'url' | 'pid'> {
  smtpUrl: string
  /** The received mails, newest first. @param to only mails to this address */
  mails: (to?: string) => Mail[]
  /** Rejects every mail with this SMTP code, such as 451; without a code, accepts mails again. */
  rejectWith: (code?: number) => void
}

/** A mail server that keeps every mail. */
export async function startMail (t: Teardown): Promise<TestMail> {
  const dir = temporaryFolder(t)
  let catcher = await startMailCatcher(dir)
  let up = true
  const port = Number(new URL(catcher.smtpUrl).port)

  const stop = async () => {
    if (up) await catcher.stop()
    up = false
  }
  const start = async () => {
    if (up) return
    catcher = await startMailCatcher(dir, port)
    up = true
  }
  t.teardown(stop)
  return {
    smtpUrl: catcher.smtpUrl,
    mails: (to) => catcher.mails(to),
    rejectWith: (code) => catcher.rejectWith(code),
    kill: stop,
    stop,
    start,
    wipe: async () => catcher.clear()
  }
}

async function startTestServer (t: Teardown, make: (dir: string, logFile: string) => Server): Promise<TestServer> {
  const folder = temporaryFolder(t)
  const store = path.join(folder, 'store')
  const { recipe, url } = make(store, path.join(folder, 'log'))
  let running: Running | undefined
  const end = async (how: 'stop' | 'kill') => {
    await running?.[how]()
    running = undefined
  }
  const begin = async () => {
    running ??= await start(recipe)
  }

  t.teardown(async () => await end('kill'))
  await begin()
  // Clients know this address: from now on a restart fails rather than use another port.
  recipe.hasFixedPort = true
  return {
    url: url(),
    get pid() {
      return running?.pid
    },
    kill: async () => await end('kill'),
    stop: async () => await end('stop'),
    start: begin,
    async wipe () {
      const ran = running !== undefined
      await end('kill')
      rmSync(store, { recursive: true, force: true })
      if (ran) await begin()
    }
  }
}

function temporaryFolder (t: Teardown): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-test-'))
  // tap runs teardowns in reverse order, so the server has stopped by then.
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A process of Tandem on a free port. */
export interface TestProcess {
  readonly port: number
  readonly pid: number | undefined
  /** What it has logged since its first start. */
  readLog: () => Promise<string>
  /** Stops it with SIGTERM, as an operator does; resolves once it has ended. */
  stop: () => Promise<void>
  /** Starts it again; resolves once it is ready. */
  start: () => Promise<void>
}

/**
 * Starts `script`, such as `gateway/main.ts` or a bundle, with the variables `env`; resolves once it is ready, or, with
 * `until: 'live'`, once it responds.
 */
export async function startProcess (
  t: Teardown,
  script: string,
  env: NodeJS.ProcessEnv,
  { until = 'ready' }: { until?: 'live' | 'ready' } = {}
): Promise<TestProcess> {
  const root = path.resolve(import.meta.dirname, '../..')
  const logFile = path.join(temporaryFolder(t), 'log')
  const recipe: ProcessSpec = {
    name: script,
    port: 0,
    logFile,
    ipc: true,
    stopTimeoutMs: 15_000,
    command: () => ({
      file: process.execPath,
      args: [path.resolve(root, script)],
      env: { ...process.env, ...env, HOST: '127.0.0.1', PORT: String(recipe.port) }
    }),
    isReady: async () =>
      (await fetch(`http://127.0.0.1:${recipe.port}/health/${until}`, { signal: AbortSignal.timeout(2_000) })).ok
  }
  let running: Running | undefined
  const stop = async () => {
    await running?.stop()
    running = undefined
  }
  const begin = async () => {
    running ??= await start(recipe)
  }
  t.teardown(stop)
  await begin()
  return {
    get port() {
      return recipe.port
    },
    get pid() {
      return running?.pid
    },
    readLog: async () => await readFile(logFile, 'utf8'),
    stop,
    start: begin
  }
}
