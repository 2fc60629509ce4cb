import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import pg from 'pg'
import { findPostgres, isClosed, POSTGRES_VERSION, type PostgresPrograms } from './postgres-programs.ts'
import type { Recipe } from './process.ts'
import { Refusal } from './screen.ts'
import { spawnWithParentDeathSignal, type User } from './tether.ts'

// Each server is described here as a recipe; whoever starts it decides whether it is kept alive (the launcher) or may be hurt (tests).

export interface Server { recipe: Recipe, url: () => string }

/** Postgres from the npm package, with everything it owns below `dir`. @param durable tests do without fsync */
export async function postgres (
  dir: string, { logFile, password, durable = true, programs }: { logFile: string, password: string, durable?: boolean, programs?: PostgresPrograms }
): Promise<Server> {
  const { initdb, postgres } = programs ?? await findPostgres()
  const user = postgresUser(dir)
  if (!existsSync(dir)) initialise(dir, initdb, password, user)
  const version = readFileSync(path.join(dir, 'PG_VERSION'), 'utf8').trim()
  if (version !== POSTGRES_VERSION) throw new Refusal(`${dir} was written by Postgres ${version}, this is ${POSTGRES_VERSION}: begin anew with --fresh`)

  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' })
  }
  const recipe: Recipe = {
    name: 'postgres', port: 0, logFile, stopSignal: 'SIGINT', timeoutMs: 8_000,
    command: () => ({
      file: postgres, user,
      args: ['-D', dir, '-p', String(recipe.port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
    }),
    ready: async () => await postgresAnswers(url())
  }
  const url = () => `postgres://postgres:${password}@127.0.0.1:${recipe.port}/postgres`
  return { recipe, url }
}

/** Who may do what on a server, in the words of its own configuration, which has a variable such as `$NATS_SOCIAL_PASSWORD` for each password. */
export interface Access { rights: string, passwordOf: (user: string) => string }

export interface SharedServer extends Server {
  /** The address for one user; without `access`, the same for all. */
  urlOf: (user: string) => string
}

/** Redis or Valkey, with its append-only file in `dir`. @param access its users; without it everybody may do everything */
export function redis (dir: string, { logFile, program, access }: { logFile: string, program: string, access?: Access | undefined }): SharedServer {
  const users = path.join(dir, 'users.acl')
  const recipe: Recipe = {
    name: 'redis', port: 0, logFile,
    command: () => {
      mkdirSync(dir, { recursive: true })
      if (access) writeFileSync(users, fillIn(access).replaceAll(/^#.*\n/gm, ''), { mode: 0o600 })
      return {
        file: program,
        args: ['--port', String(recipe.port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'yes',
          '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction', '--loglevel', 'warning', ...(access ? ['--aclfile', users] : [])]
      }
    },
    ready: async () => await probe(recipe.port, '+PONG', `${access ? `AUTH ${OPERATOR} ${access.passwordOf(OPERATOR)}\r\n` : ''}PING\r\n`)
  }
  const urlOf = (user: string) => addressFor('redis', recipe, user, access)
  return { recipe, url: () => urlOf(OPERATOR), urlOf }
}

/** NATS with JetStream, its streams in `dir`. @param access its users; without it everybody may do everything */
export function nats (dir: string, { logFile, program, access }: { logFile: string, program: string, access?: Access | undefined }): SharedServer {
  const config = path.join(dir, 'nats.conf')
  const recipe: Recipe = {
    name: 'nats', port: 0, logFile,
    command: () => {
      mkdirSync(dir, { recursive: true })
      // Alone, a server keeps what it acknowledged through a power cut only with this; Debian's 2.9 does not know the setting.
      const sync = knowsSyncInterval(program) ? ', sync_interval: always' : ''
      const rights = access ? fillIn(access) : ''
      writeFileSync(config, `listen: "127.0.0.1:${recipe.port}"\njetstream { store_dir: ${JSON.stringify(dir)}${sync} }\n${rights}`, { mode: 0o600 })
      return { file: program, args: ['--config', config] }
    },
    ready: async () => await probe(recipe.port, '"jetstream":true')
  }
  const urlOf = (user: string) => addressFor('nats', recipe, user, access)
  return { recipe, url: () => urlOf(OPERATOR), urlOf }
}

// May do everything.
const OPERATOR = 'operator'

/** The rights with the passwords in the place of their variables. */
function fillIn ({ rights, passwordOf }: Access): string {
  return rights.replaceAll(/\$(?:NATS|REDIS)_(\w+)_PASSWORD/g, (_, user: string) => passwordOf(user.toLowerCase()))
}

function addressFor (scheme: string, { port }: Recipe, user: string, access: Access | undefined): string {
  return `${scheme}://${access ? `${user}:${access.passwordOf(user)}@` : ''}127.0.0.1:${port}`
}

export async function postgresAnswers (url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } finally {
    await client.end().catch(() => {})
  }
}

/** Whether what listens there says `answer`, to `question` or by itself, within a second. */
export async function probe (port: number, answer: string, question = '', host = '127.0.0.1'): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ port, host, timeout: 1_000 }, () => { if (question) socket.write(question) })
    let heard = ''
    const end = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    socket.on('data', (chunk) => {
      heard += chunk.toString()
      if (heard.includes(answer)) end(true)
      else if (question) end(false)
    })
    socket.on('error', () => end(false))
    socket.on('timeout', () => end(false))
    socket.on('close', () => end(false))
  })
}

function initialise (dir: string, initdb: string, password: string, user: User | undefined) {
  // Made elsewhere and moved: a first start that was interrupted leaves nothing that looks like a database.
  const draft = `${dir}.new`
  const passwordFile = `${dir}.password`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) for (const file of [draft, passwordFile]) chownSync(file, user.uid, user.gid)

  const args = [`--pgdata=${draft}`, `--pwfile=${passwordFile}`, '--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8',
    '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-sync', '--no-instructions']
  const { program, rest, ids } = spawnWithParentDeathSignal(initdb, args, 'SIGTERM', user)
  const made = spawnSync(program, rest, { ...ids, encoding: 'utf8' })
  rmSync(passwordFile, { force: true })
  if (made.status !== 0) {
    rmSync(draft, { recursive: true, force: true })
    throw new Refusal(`Postgres could not make its files in ${dir}: ${(made.stderr || made.error?.message || '').trim().replaceAll('\n', '; ')}`)
  }
  renameSync(draft, dir)
}

/** Postgres refuses to run as root: then it runs as who owns its data, else as `postgres`, else as `nobody`. */
function postgresUser (dir: string): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  const owner = existsSync(dir) ? statSync(dir) : accounts('postgres') ?? accounts('nobody')
  if (!owner || owner.uid === 0) throw new Refusal('Postgres does not run as root, and there is no user `postgres` or `nobody`: start Tandem as another user')
  return { uid: owner.uid, gid: owner.gid, shutOut: isClosed(dir) }
}

function accounts (name: string): { uid: number, gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8').split('\n').find((each) => each.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined
}

const versions = new Map<string, boolean>()

function knowsSyncInterval (program: string): boolean {
  if (!versions.has(program)) {
    const [, major, minor] = /v(\d+)\.(\d+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout) ?? []
    versions.set(program, Number(major) > 2 || Number(minor) >= 10)
  }
  return versions.get(program) ?? false
}
