import type { Ask } from '@tandem/bus-kit'
import type { Db } from './schema.ts'
import type { StatsCache } from './stats/cache.ts'

/** What every feature is handed. */
export interface Deps {
  db: Db
  ask: Ask
  cache: StatsCache
  now: () => Date
}
