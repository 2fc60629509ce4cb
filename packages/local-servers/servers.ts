import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import pg from 'pg'
import { findPostgres, isBelowPrivateFolder, POSTGRES_VERSION, type PostgresPrograms } from './postgres-programs.ts'
import type { ProcessSpec } from './process.ts'
import { UserError } from './screen.ts'
import { spawnWithParentDeathSignal, type User } from './parent-death-signal.ts'

// Describes how to run each server. The launcher keeps the processes alive; tests may kill them.

export interface Server {
  recipe: ProcessSpec
  url: () => string
}

/** Postgres from the npm package, with its data in `dir`. @param durable false in tests: no fsync */
export async function postgres (
  dir: string,
  { logFile, password, durable = true, programs }: {
    logFile: string,
    password: string,
    durable?: boolean,
    programs?: PostgresPrograms
  }
): Promise<Server> {
  const { initdb, postgres } = programs ?? await findPostgres()
  const user = postgresUser(dir)
  if (!existsSync(dir)) initializeCluster(dir, initdb, password, user)
  const version = readFileSync(path.join(dir, 'PG_VERSION'), 'utf8').trim()
  if (version !== POSTGRES_VERSION) {
    throw new UserError(
      `${dir} was written by Postgres ${version}, this is ${POSTGRES_VERSION}: start with --fresh, which deletes it`
    )
  }

  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' })
  }
  const recipe: ProcessSpec = {
    name: 'postgres',
    port: 0,
    logFile,
    stopSignal: 'SIGINT',
    stopTimeoutMs: 8_000,
    command: () => ({
      file: postgres,
      user,
      args: [
        '-D',
        dir,
        '-p',
        String(recipe.port),
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      ]
    }),
    isReady: async () => await isPostgresReady(url())
  }
  const url = () => `postgres://postgres:${password}@127.0.0.1:${recipe.port}/postgres`
  return { recipe, url }
}

/**
 * Users and permissions of a server, in its own configuration format, with a variable such as `$NATS_SOCIAL_PASSWORD`
 * for each password.
 */
export interface AccessControl {
  rights: string
  passwordOf: (user: string) => string
}

export interface SharedServer extends Server {
  /** The address for one user; the same for all without `access`. */
  urlOf: (user: string) => string
}

/**
 * Redis or Valkey, with its append-only file in `dir`.
 * @param access its users; without it every client has all permissions
 */
export function redis (
  dir: string,
  { logFile, program, access }: { logFile: string, program: string, access?: AccessControl | undefined }
): SharedServer {
  const users = path.join(dir, 'users.acl')
  const recipe: ProcessSpec = {
    name: 'redis',
    port: 0,
    logFile,
    command: () => {
      mkdirSync(dir, { recursive: true })
      if (access) writeFileSync(users, substitutePasswords(access).replaceAll(/^#.*\n/gm, ''), { mode: 0o600 })
      return {
        file: program,
        args: [
          '--port',
          String(recipe.port),
          '--bind',
          '127.0.0.1',
          '--dir',
          dir,
          '--save',
          '',
          '--appendonly',
          'yes',
          '--appendfsync',
          'everysec',
          '--maxmemory-policy',
          'noeviction',
          '--loglevel',
          'warning',
          ...(access ? ['--aclfile', users] : [])
        ]
      }
    },
    isReady: async () =>
      await probe(
        recipe.port,
        '+PONG',
        `${access ? `AUTH ${OPERATOR} ${access.passwordOf(OPERATOR)}\r\n` : ''}PING\r\n`
      )
  }
  const urlOf = (user: string) => addressFor('redis', recipe, user, access)
  return { recipe, url: () => urlOf(OPERATOR), urlOf }
}

/** NATS with JetStream, its streams in `dir`. @param access its users; without it every client has all permissions */
export function nats (
  dir: string,
  { logFile, program, access }: { logFile: string, program: string, access?: AccessControl | undefined }
): SharedServer {
  const config = path.join(dir, 'nats.conf')
  const recipe: ProcessSpec = {
    name: 'nats',
    port: 0,
    logFile,
    command: () => {
      mkdirSync(dir, { recursive: true })
      // A single server keeps acknowledged messages through a power cut only with this; Debian's 2.9 does not know the
      // setting.
      const sync = knowsSyncInterval(program) ? ', sync_interval: always' : ''
      const rights = access ? substitutePasswords(access) : ''
      writeFileSync(
        config,
        `listen: "127.0.0.1:${recipe.port}"\njetstream { store_dir: ${JSON.stringify(dir)}${sync} }\n${rights}`,
        { mode: 0o600 }
      )
      return { file: program, args: ['--config', config] }
    },
    isReady: async () => await probe(recipe.port, '"jetstream":true')
  }
  const urlOf = (user: string) => addressFor('nats', recipe, user, access)
  return { recipe, url: () => urlOf(OPERATOR), urlOf }
}

// Has all permissions.
const OPERATOR = 'operator'

/** The configuration with its password variables replaced. */
function substitutePasswords ({ rights, passwordOf }: AccessControl): string {
  return rights.replaceAll(/\$(?:NATS|REDIS)_(\w+)_PASSWORD/g, (_, user: string) => passwordOf(user.toLowerCase()))
}

function addressFor (scheme: string, { port }: ProcessSpec, user: string, access: AccessControl | undefined): string {
  return `${scheme}://${access ? `${user}:${access.passwordOf(user)}@` : ''}127.0.0.1:${port}`
}

export async function isPostgresReady (url: string): Promise<boolean> {
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

/** Whether the server on this port sends `answer` within a second, in response to `question` or by itself. */
export async function probe (port: number, answer: string, question = '', host = '127.0.0.1'): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ port, host, timeout: 1_000 }, () => {
      if (question) socket.write(question)
    })
    let received = ''
    const end = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    socket.on('data', (chunk) => {
      received += chunk.toString()
      if (received.includes(answer)) end(true)
      else if (question) end(false)
    })
    socket.on('error', () => end(false))
    socket.on('timeout', () => end(false))
    socket.on('close', () => end(false))
  })
}

function initializeCluster (dir: string, initdb: string, password: string, user: User | undefined) {
  // Written to a draft folder and renamed: an interrupted first start leaves nothing that looks like a database.
  const draft = `${dir}.new`
  const passwordFile = `${dir}.password`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) { for (const file of [draft, passwordFile]) chownSync(file, user.uid, user.gid) }

  const args = [
    `--pgdata=${draft}`,
    `--pwfile=${passwordFile}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-sync',
    '--no-instructions'
  ]
  const { program, rest, ids } = spawnWithParentDeathSignal(initdb, args, 'SIGTERM', user)
  const result = spawnSync(program, rest, { ...ids, encoding: 'utf8' })
  rmSync(passwordFile, { force: true })
  if (result.status !== 0) {
    rmSync(draft, { recursive: true, force: true })
    const reason = (result.stderr || result.error?.message || '').trim().replaceAll('\n', '; ')
    throw new UserError(`Postgres could not create its files in ${dir}: ${reason}`)
  }
  renameSync(draft, dir)
}

/** Postgres refuses to run as root. It then runs as the owner of its data, else as `postgres`, else as `nobody`. */
function postgresUser (dir: string): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  const owner = existsSync(dir) ? statSync(dir) : accounts('postgres') ?? accounts('nobody')
  if (!owner || owner.uid === 0) {
    throw new UserError(
      'Postgres does not run as root, and there is no user `postgres` or `nobody`: start Tandem as another user'
    )
  }
  return { uid: owner.uid, gid: owner.gid, needsDacOverride: isBelowPrivateFolder(dir) }
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
