import type { Departures } from '@tandem/account-kit'
import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import { createStore, type Config } from './config.ts'
import type { CallRpc } from '@tandem/bus-kit'
import { createMedia, type Media } from '@tandem/media-kit'
import { readFourEyes, type ProposalKind } from '@tandem/operator-kit'
import { createPeopleLookup, type PeopleLookup } from './people/lookup.ts'
import { createSocialDepartures } from './departures.ts'
import type { Db, Tables } from './tables.ts'

/** The dependencies passed to every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  people: PeopleLookup
  media: Media
  departures: Departures
  /** What needs two operators. */
  fourEyes: ReadonlySet<ProposalKind>
}

/** @throws ConfigError */
export function createDeps ({ config, db, callRpc }: Resources<Type.Static<typeof Config>, Tables>): Deps {
  const media = createMedia({
    storage: createStore(config),
    cdnUrl: config.CDN_URL,
    ownUrlsOnly: config.MEDIA_URLS_ONLY_OWN,
    signingKey: config.MEDIA_SIGNING_KEY
  })
  return {
    db,
    callRpc,
    people: createPeopleLookup({ db, callRpc }),
    media,
    fourEyes: readFourEyes(config.FOUR_EYES),
    departures: createSocialDepartures({ db, callRpc, media })
  }
}
