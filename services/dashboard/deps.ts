import type { CallRpc } from '@tandem/bus-kit'
import type { Db } from './tables.ts'
import type { StatsCache } from './stats/cache.ts'

/** The dependencies passed to every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  cache: StatsCache
  now: () => Date
}
