import type { Departures } from '@tandem/account-kit'
import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import type { Config } from './config.ts'
import type { CallRpc } from '@tandem/bus-kit'
import { createDashboardDepartures } from './departures.ts'
import type { Db, Tables } from './tables.ts'
import { createStatsCache, type StatsCache } from './stats/cache.ts'

/** The dependencies passed to every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  cache: StatsCache
  /** Minimum age in years for tracking fasts; 0 means none. */
  minAge: number
  now: () => Date
  departures: Departures
}

export function createDeps (
  { config, db, callRpc, log, onClose }: Resources<Type.Static<typeof Config>, Tables>
): Deps {
  const cache = createStatsCache(config.REDIS_URL, log)
  onClose(() => cache.close())
  const departures = createDashboardDepartures({ db, callRpc, cache })
  return { db, callRpc, cache, minAge: config.MIN_AGE, now: () => new Date(), departures }
}
