import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import type { Config } from './config.ts'
import { createMedia, createStorage } from '@tandem/media-kit'
import { createAccountLookup } from './people/accounts.ts'
import { createProfileErasure } from './erasure.ts'
import type { Tables } from './tables.ts'
import type { Deps } from './deps.ts'

export function createDeps ({ config, db, callRpc }: Resources<Type.Static<typeof Config>, Tables>): Deps {
  const media = createMedia({
    storage: createStorage(config),
    cdnUrl: config.CDN_URL,
    purgeUrl: config.CDN_PURGE_URL,
    purgeToken: config.CDN_PURGE_TOKEN,
    ownUrlsOnly: config.MEDIA_URLS_ONLY_OWN
  })
  return {
    db,
    findAccounts: createAccountLookup(callRpc),
    media,
    areAdminRoutesOff: !config.ADMIN_ROUTES_IN_APP,
    erasure: createProfileErasure({ db, callRpc, media })
  }
}
