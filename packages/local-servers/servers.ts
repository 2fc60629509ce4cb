import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import type { ProcessSpec } from './process.ts'

// How to run Redis and NATS; postgres.ts has Postgres. The launcher keeps the processes alive; tests may kill them.

export interface Server {
  recipe: ProcessSpec
  url: () => string
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

const versions = new Map<string, boolean>()

function knowsSyncInterval (program: string): boolean {
  if (!versions.has(program)) {
    const [, major, minor] = /v(\d+)\.(\d+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout) ?? []
    versions.set(program, Number(major) > 2 || Number(minor) >= 10)
  }
  return versions.get(program) ?? false
}
