import { Redis } from 'ioredis'
import type { Log } from '@tandem/process-kit'
import type { Stats } from './schemas.ts'

/** Statistics and when they were computed. */
export interface CachedStats {
  stats: Stats
  updatedAt: string
}

/** Keeps statistics for a while. Without Redis it keeps nothing, and each request queries Postgres. */
export interface StatsCache {
  get(accountId: string): Promise<CachedStats | undefined>
  /** Stores a value unless there is one, so that concurrent requests return the same. @returns the stored one */
  set(accountId: string, value: CachedStats, ttlMs: number): Promise<CachedStats>
  ready(): Promise<unknown>
  close(): void
}

const COMMAND_TIMEOUT_MS = 100

export function createStatsCache (url: string, log: Log): StatsCache {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    connectTimeout: 2_000,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: 5_000,
    retryStrategy: (times) => Math.min(50 * 2 ** times, 1_000)
  })
  let isUnavailable = false
  redis.on('error', (error) => {
    if (!isUnavailable) log.warn({ err: error }, 'Redis is unavailable; computing statistics on each request')
    isUnavailable = true
  })
  redis.on('ready', () => {
    isUnavailable = false
  })

  const keyOf = (accountId: string) => `tandem:dashboard:stats:v1:${accountId}`
  const ifReady = async <Value>(work: () => Promise<Value>) => {
    if (redis.status !== 'ready') return
    return await work().catch(() => undefined)
  }

  const get = async (accountId: string) =>
    await ifReady(async () => {
      const text = await redis.get(keyOf(accountId))
      return text ? JSON.parse(text) as CachedStats : undefined
    })

  return {
    get,
    async set (accountId, value, ttlMs) {
      await ifReady(async () => await redis.set(keyOf(accountId), JSON.stringify(value), 'PX', ttlMs, 'NX'))
      return await get(accountId) ?? value
    },
    async ready () {
      if (redis.status !== 'ready') throw new Error('Redis is unavailable')
      await redis.ping()
    },
    close: () => redis.disconnect()
  }
}
