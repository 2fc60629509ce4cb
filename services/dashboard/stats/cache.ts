import { Redis } from 'ioredis'
import type { Log } from '@tandem/service-kit'
import type { Stats } from './queries.ts'

/** Statistics and when they were reckoned. */
export interface CachedStats { stats: Stats, updatedAt: string }

/** Keeps statistics for a moment. Without Redis it keeps nothing and nobody is worse off than by a query. */
export interface StatsCache {
  find (accountId: string): Promise<CachedStats | undefined>
  keep (accountId: string, kept: CachedStats, seconds: number): Promise<void>
  /** After a change: what was kept no longer holds, nor what is just being reckoned from before it. */
  forget (accountId: string): Promise<void>
  ready (): Promise<unknown>
  close (): void
}

const PATIENCE = 100
// As long as a statement may take, and more: whoever read before a change has tried to keep it by then.
const FORGOTTEN_FOR = 3_000

export function createStatsCache (url: string, log: Log): StatsCache {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    connectTimeout: 2_000,
    commandTimeout: PATIENCE,
    socketTimeout: 5_000,
    retryStrategy: (times) => Math.min(50 * 2 ** times, 1_000)
  })
  let away = false
  redis.on('error', (error) => {
    if (!away) log.warn({ err: error }, 'Redis is away; statistics are reckoned at each request')
    away = true
  })
  redis.on('ready', () => { away = false })

  const keyOf = (accountId: string) => `tandem:dashboard:stats:v1:${accountId}`
  const unlessAway = async <Value> (work: () => Promise<Value>) => {
    if (redis.status !== 'ready') return
    return await work().catch(() => undefined)
  }

  return {
    async find (accountId) {
      return await unlessAway(async () => {
        const text = await redis.get(keyOf(accountId))
        return text ? JSON.parse(text) as CachedStats : undefined
      })
    },
    // Only where nothing stands: not over what says that something has changed meanwhile.
    keep: async (accountId, kept, seconds) => {
      await unlessAway(async () => await redis.set(keyOf(accountId), JSON.stringify(kept), 'EX', seconds, 'NX'))
    },
    forget: async (accountId) => {
      await unlessAway(async () => await redis.set(keyOf(accountId), '', 'PX', FORGOTTEN_FOR))
    },
    async ready () {
      if (redis.status !== 'ready') throw new Error('Redis is away')
      await redis.ping()
    },
    close: () => redis.disconnect()
  }
}
