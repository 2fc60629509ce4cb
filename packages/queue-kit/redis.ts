import { Redis, type RedisOptions } from 'ioredis'
import type { Log } from './types.ts'

/**
 * A connection that comes back within a second of Redis as long as it is `wanted`, and says once that Redis is away and
 * once that it is back. BullMQ's own copies of it do the same: without `wanted`, one that lost Redis while it was being
 * closed would try for ever.
 */
export function keepConnected (url: string, log: Log, wanted: () => boolean, options: RedisOptions) {
  const redis = new Redis(url, {
    ...options,
    connectTimeout: 2_000,
    retryStrategy: (times) => wanted() ? Math.min(50 * 2 ** times, 1_000) : null
  })
  let away = false
  redis.on('error', (error) => {
    if (!away) log.warn({ err: error }, 'Redis is away')
    away = true
  })
  redis.on('ready', () => {
    if (away) log.info({}, 'Redis is back')
    away = false
  })
  return redis
}

/** @throws when `work` takes longer than `milliseconds`; it goes on all the same */
export async function within<Value> (milliseconds: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${milliseconds} ms`)), milliseconds)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
