import { Redis, type RedisOptions } from 'ioredis'
import type { QueueOptions } from './types.ts'

/**
 * A connection that reconnects within a second of Redis's return while it is `isNeeded`. It logs once that Redis is
 * unavailable and once that it is back. BullMQ's own copies do the same: without `isNeeded`, one that lost Redis while
 * it was closing would retry forever.
 */
export function connectRedis (url: string, log: QueueOptions['log'], isNeeded: () => boolean, options: RedisOptions) {
  const redis = new Redis(url, {
    ...options,
    connectTimeout: 2_000,
    retryStrategy: (times) => isNeeded() ? Math.min(50 * 2 ** times, 1_000) : null
  })
  let isDown = false
  redis.on('error', (error) => {
    if (!isDown) log.warn({ err: error }, 'Redis is unavailable')
    isDown = true
  })
  redis.on('ready', () => {
    if (isDown) log.info({}, 'Redis is back')
    isDown = false
  })
  return redis
}

/** The memory of the server in bytes. @throws while Redis is unavailable */
export async function readMemory (redis: Redis) {
  const info = await redis.info('memory')
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  return { used: read('used_memory'), limit: read('maxmemory') }
}
