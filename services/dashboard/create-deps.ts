import { readLimits } from '@tandem/brand-kit'
import { createMediaUrls } from '@tandem/media-url-kit'
import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import type { Config } from './config.ts'
import { createDashboardErasure } from './erasure.ts'
import type { Tables } from './tables.ts'
import { createImportQueue } from './imports/queue.ts'
import { createStatsCache } from './stats/cache.ts'
import type { Deps } from './deps.ts'

export function createDeps (
  { config, db, callRpc, publishSignal, log, onClose }: Resources<Type.Static<typeof Config>, Tables>
): Deps {
  const cache = createStatsCache(config.REDIS_URL, log)
  onClose(() => cache.close())
  const erasure = createDashboardErasure({ db, callRpc })
  const now = () => new Date()
  const deps = { db, now, sendEphemeral: publishSignal }
  const imports = createImportQueue({ deps, redisUrl: config.REDIS_URL, log })
  imports.start()
  onClose(() => imports.close())
  return {
    ...deps,
    callRpc,
    cache,
    mediaUrls: createMediaUrls(config.CDN_URL),
    minAge: readLimits().minimumAge,
    imports,
    erasure
  }
}
