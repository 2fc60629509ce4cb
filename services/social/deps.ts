import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import { createStore, type Config } from './config.ts'
import type { CallRpc } from '@tandem/bus-kit'
import { createMedia, type Media } from '@tandem/media-kit'
import { createPeopleLookup, type PeopleLookup } from './people/lookup.ts'
import type { Db, Tables } from './tables.ts'

/** The dependencies passed to every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  people: PeopleLookup
  media: Media
}

/** @throws ConfigError */
export function createDeps ({ config, db, callRpc }: Resources<Type.Static<typeof Config>, Tables>): Deps {
  return {
    db,
    callRpc,
    people: createPeopleLookup({ db, callRpc }),
    media: createMedia({
      storage: createStore(config),
      cdnUrl: config.CDN_URL,
      ownUrlsOnly: config.MEDIA_URLS_ONLY_OWN,
      signingKey: config.MEDIA_SIGNING_KEY
    })
  }
}
