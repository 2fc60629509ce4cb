import { readFileSync } from 'node:fs'
import path from 'node:path'
import { secret } from './data-dir.ts'
import { screen } from './screen.ts'
import type { Access } from './servers.ts'

// The users and rights of production, so that what a process may not do there fails here as well.

/** What each service below `root` may do on NATS. */
export async function natsAccess (root: string, dataDir: string): Promise<Access> {
  // Its imports take a moment, and who only tests does not need them.
  const { readRights } = await import('../nats/messaging.ts')
  // NATS would read a variable that begins like a number as one.
  return { rights: readRights(root), passwordOf: (user) => `s${secret(dataDir, `nats.${user}`)}` }
}

const redisUsers = readFileSync(path.join(import.meta.dirname, '../kubernetes/components/redis-users/users.acl'), 'utf8')

/** Whether a process has a user on Redis. */
export const needsRedis = (name: string) => new RegExp(`^user ${name} on`, 'm').test(redisUsers)

export function redisAccess (dataDir: string): Access {
  return { rights: redisUsers, passwordOf: (user) => secret(dataDir, `redis.${user}`) }
}

/** Looks after the streams of `services`, as a process of its own does in production. Returns what ends it. */
export async function startStreams (url: string, services: string[]) {
  const { connectStreamManager } = await import('../nats/streams.ts')
  const warn = (details: object, message: string) => screen.warn(`streams: ${message}${'err' in details ? ` (${String(details.err)})` : ''}`)
  return connectStreamManager(url, services, { info () {}, warn, error: warn })
}
