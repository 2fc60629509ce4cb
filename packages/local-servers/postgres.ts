import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { withParentDeathSignal, type User } from './parent-death-signal.ts'
import { findPostgres, isBelowPrivateFolder, POSTGRES_VERSION, type PostgresPrograms } from './postgres-programs.ts'
import type { ProcessSpec } from './process.ts'
import { UserError } from './screen.ts'
import type { Server } from './servers.ts'

const notDurable = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // A killed server would leave it behind, in memory: here it goes with the folder.
  dynamic_shared_memory_type: 'mmap'
}

/** Postgres from the npm package, with its data in `dir`. @param durable false in tests: nothing is to be kept */
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
    ...(durable ? {} : notDurable)
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

export async function isPostgresReady (url: string, timeoutMs = 2_000): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } finally {
    await client.end().catch(() => {})
  }
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
  const { program, rest, ids } = withParentDeathSignal(initdb, args, 'SIGTERM', user)
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
