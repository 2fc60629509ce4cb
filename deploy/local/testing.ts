import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startMailCatcher } from './mail-catcher.ts'
import type { Mail } from './mail-page.ts'
import { start, type Recipe, type Running } from './process.ts'
import { findPrograms } from './programs.ts'
import { nats, redis, type Server, type SharedServer } from './servers.ts'

export type { Mail } from './mail-page.ts'
export { freePort } from './ports.ts'

/** As much of a tap test as is needed to clean up after it. */
export interface Teardown { teardown (work: () => unknown): unknown }

/** A server of the test's own, that may be hurt. It keeps its address whatever happens to it, and is removed after the test. */
export interface TestServer {
  url: string
  readonly pid: number | undefined
  /** Ends it as a crash does, with SIGKILL; what it stored stays. */
  kill: () => Promise<void>
  /** Ends it in an orderly way; what it stored stays. */
  stop: () => Promise<void>
  /** Starts it again, with what it had stored; returns once it answers. */
  start: () => Promise<void>
  /** Takes everything from it, as a lost disk does. One that ran is killed for it and runs again afterwards, empty. */
  wipe: () => Promise<void>
}

export interface SharedTestServer extends TestServer {
  /** The address for one user; without rights, the same for all. */
  urlOf: (user: string) => string
}

interface Rights {
  /** Its users, in the words of its own configuration, if not everybody may do everything; `url` is then its operator's. */
  rights?: string
}

/** NATS with JetStream. */
export async function startNats (t: Teardown, { rights }: Rights = {}): Promise<SharedTestServer> {
  const program = findPrograms({ redis: false }).nats
  return await shared(t, (dir, logFile) => nats(dir, { logFile, program, access: accessOf(rights) }))
}

/** Redis, or Valkey where that is what is installed. */
export async function startRedis (t: Teardown, { rights }: Rights = {}): Promise<SharedTestServer> {
  const program = findPrograms({ nats: false }).redis
  return await shared(t, (dir, logFile) => redis(dir, { logFile, program, access: accessOf(rights) }))
}

const accessOf = (rights: string | undefined) => rights === undefined ? undefined : { rights, passwordOf: (user: string) => `secret-of-${user}` }

async function shared (t: Teardown, make: (dir: string, logFile: string) => SharedServer): Promise<SharedTestServer> {
  let urlOf: SharedServer['urlOf'] = () => ''
  const server = await hurtable(t, (dir, logFile) => {
    const made = make(dir, logFile)
    urlOf = made.urlOf
    return made
  })
  return Object.assign(server, { urlOf })
}

export interface TestMail extends Omit<TestServer, 'url' | 'pid'> {
  smtpUrl: string
  /** What has come, newest first. @param to only what this address got */
  mails: (to?: string) => Mail[]
  /** Answers every mail with this SMTP code from now on, such as 451; with nothing, takes mails again. */
  refuse: (code?: number) => void
}

/** A mail server that keeps what it gets. */
export async function startMail (t: Teardown): Promise<TestMail> {
  const dir = temporaryFolder(t)
  let catcher = await startMailCatcher(dir)
  let up = true
  const ports = { smtp: portOf(catcher.smtpUrl), http: portOf(catcher.url) }

  const stop = async () => {
    if (up) await catcher.stop()
    up = false
  }
  const start = async () => {
    if (up) return
    catcher = await startMailCatcher(dir, ports)
    up = true
  }
  t.teardown(stop)
  return {
    smtpUrl: catcher.smtpUrl,
    mails: (to) => catcher.mails(to),
    refuse: (code) => catcher.refuse(code),
    kill: stop,
    stop,
    start,
    wipe: async () => catcher.clear()
  }
}

async function hurtable (t: Teardown, make: (dir: string, logFile: string) => Server): Promise<TestServer> {
  const folder = temporaryFolder(t)
  const store = path.join(folder, 'store')
  const { recipe, url } = make(store, path.join(folder, 'log'))
  let running: Running | undefined
  const end = async (how: 'stop' | 'kill') => {
    await running?.[how]()
    running = undefined
  }
  const begin = async () => { running ??= await start(recipe) }

  t.teardown(async () => await end('kill'))
  await begin()
  // Clients know this address: from now on it fails rather than come back on another one.
  recipe.fixed = true
  return {
    url: url(),
    get pid () { return running?.pid },
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
  // tap runs what was registered last first, so the server has ended by then.
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function portOf (url: string): number {
  return Number(new URL(url).port)
}

/** A process of Tandem on a free port. */
export interface TestProcess {
  readonly port: number
  /** Ends it as an operator does, with SIGTERM; returns once it has ended. */
  stop: () => Promise<void>
  /** Starts it again; returns once it is ready. */
  start: () => Promise<void>
}

/** Starts `script`, such as `gateway/main.ts`, with the variables `env`; returns once it is ready. */
export async function startProcess (t: Teardown, script: string, env: NodeJS.ProcessEnv): Promise<TestProcess> {
  const root = path.resolve(import.meta.dirname, '../..')
  const recipe: Recipe = {
    name: script, port: 0, logFile: path.join(temporaryFolder(t), 'log'), ipc: true, timeoutMs: 15_000,
    command: () => ({ file: process.execPath, args: [path.join(root, script)], env: { ...process.env, ...env, HOST: '127.0.0.1', PORT: String(recipe.port) } }),
    ready: async () => (await fetch(`http://127.0.0.1:${recipe.port}/health/ready`, { signal: AbortSignal.timeout(2_000) })).ok
  }
  let running: Running | undefined
  const stop = async () => {
    await running?.stop()
    running = undefined
  }
  const begin = async () => { running ??= await start(recipe) }
  t.teardown(stop)
  await begin()
  return { get port () { return recipe.port }, stop, start: begin }
}
