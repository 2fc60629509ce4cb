import { createDepartures } from '@tandem/account-kit'
import { publish, type CallRpc } from '@tandem/bus-kit'
import { SocialAccountErased } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createSocialDepartures = ({ db, media, callRpc }: Pick<Deps, 'db' | 'media'> & { callRpc: CallRpc }) =>
  createDepartures({
    service: 'social',
    db,
    callRpc,
    personalData,
    report: async (trx, erased) => await publish(trx, SocialAccountErased, erased.accountId, erased),
    removeFile: async (key) => await media.remove(key)
  })
