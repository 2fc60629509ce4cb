import type { CallRpc } from '@tandem/bus-kit'
import type { Db } from './tables.ts'
import type { StatsCache } from './stats/cache.ts'

/** What every feature is handed. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  cache: StatsCache
  now: () => Date
}
