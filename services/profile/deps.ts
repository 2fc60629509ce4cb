import type { Departures } from '@tandem/account-kit'
import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import type { Config } from './config.ts'
import { createMedia, createStorage, type Media } from '@tandem/media-kit'
import { createAccountLookup, type FindAccounts } from './people/accounts.ts'
import { createProfileDepartures } from './departures.ts'
import type { Db, Tables } from './tables.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  /** Fetches accounts from identity that have no person here yet. */
  findAccounts: FindAccounts
  media: Media
  departures: Departures
}

export function createDeps ({ config, db, callRpc }: Resources<Type.Static<typeof Config>, Tables>): Deps {
  const media = createMedia({
    storage: createStorage(config),
    cdnUrl: config.CDN_URL,
    ownUrlsOnly: config.MEDIA_URLS_ONLY_OWN
  })
  return {
    db,
    findAccounts: createAccountLookup(callRpc),
    media,
    departures: createProfileDepartures({ db, callRpc, media })
  }
}
