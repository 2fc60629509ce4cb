import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import type { Config } from './config.ts'
import { createStorage, openMedia } from '@tandem/media-kit'
import { untilAvailable } from '@tandem/process-kit'
import { createAccountLookup } from './people/accounts.ts'
import { createProfileErasure } from './erasure.ts'
import { offerListsOfBrand } from './options/offer.ts'
import type { Tables } from './tables.ts'
import type { Deps } from './deps.ts'

export async function createDeps (
  { config, db, callRpc, log }: Resources<Type.Static<typeof Config>, Tables>
): Promise<Deps> {
  await untilAvailable(async () => await offerListsOfBrand(db), log)
  const media = openMedia(createStorage(config), config)
  return {
    db,
    findAccounts: createAccountLookup(callRpc),
    media,
    areAdminRoutesOff: !config.ADMIN_ROUTES_IN_APP,
    erasure: createProfileErasure({ db, callRpc, media })
  }
}
