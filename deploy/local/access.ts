import { readFileSync } from 'node:fs'
import path from 'node:path'
import { readOrCreateSecret } from './data-dir.ts'
import { screen } from '@tandem/local-servers/screen.ts'
import type { AccessControl } from '@tandem/local-servers/servers.ts'

// The users and permissions of production, so that what a process must not do there fails here as well.

/** The permissions of each service below `root` on NATS. */
export async function natsAccess (root: string, dataDir: string): Promise<AccessControl> {
  // Imported lazily: it takes a moment, and tests do not need it.
  const { readRights } = await import('@tandem/nats/messaging.ts')
  // NATS would parse a variable that begins with a digit as a number.
  return { rights: readRights(root), passwordOf: (user) => `s${readOrCreateSecret(dataDir, `nats.${user}`)}` }
}

const redisUsers = readFileSync(
  path.join(import.meta.dirname, '../kubernetes/components/redis-users/users.acl'),
  'utf8'
)

/** Whether a process has a user on Redis. */
export const needsRedis = (name: string) => new RegExp(`^user ${name} on`, 'm').test(redisUsers)

export function redisAccess (dataDir: string): AccessControl {
  return { rights: redisUsers, passwordOf: (user) => readOrCreateSecret(dataDir, `redis.${user}`) }
}

/** Manages the streams of `services`, as a separate process does in production. Returns a function that stops it. */
export async function startStreams (url: string, services: string[], maxMib: number) {
  const { connectStreamManager } = await import('@tandem/nats/streams.ts')
  const warn = (details: object, message: string) =>
    screen.warn(`streams: ${message}${'err' in details ? ` (${String(details.err)})` : ''}`)
  return connectStreamManager(url, services, { info () {}, warn, error: warn }, { maxMib })
}
