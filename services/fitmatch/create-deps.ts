import { readLimits } from '@tandem/brand-kit'
import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import { createStores, type Config } from './config.ts'
import { createHooks } from '@tandem/http-kit'
import { openMedia } from '@tandem/media-kit'
import { createFitMatchErasure } from './erasure.ts'
import { readFourEyes } from '@tandem/operator-kit'
import { createPeopleLookup } from './people/lookup.ts'
import type { Tables } from './tables.ts'
import type { Deps } from './deps.ts'

/** @throws ConfigError */
export function createDeps (
  { config, db, callRpc, publishSignal, log }: Resources<Type.Static<typeof Config>, Tables>
): Deps {
  const stores = createStores(config)
  const { selfies } = stores
  const media = openMedia(stores.media, config)
  return {
    db,
    callRpc,
    hooks: createHooks(config.HOOKS, log),
    findPeople: createPeopleLookup({ db, callRpc, media }),
    media,
    selfies,
    minAge: readLimits().minimumAge,
    now: () => new Date(),
    fourEyes: readFourEyes(config.FOUR_EYES),
    areAdminRoutesOff: !config.ADMIN_ROUTES_IN_APP,
    erasure: createFitMatchErasure({ db, callRpc, media, selfies }),
    sendEphemeral: publishSignal
  }
}
