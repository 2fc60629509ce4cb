import { createDepartures } from '@tandem/account-kit'
import { publish, type CallRpc } from '@tandem/bus-kit'
import { ProfileAccountErased } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createProfileDepartures = ({ db, media, callRpc }: Pick<Deps, 'db' | 'media'> & { callRpc: CallRpc }) =>
  createDepartures({
    service: 'profile',
    db,
    callRpc,
    personalData,
    report: async (trx, erased) => await publish(trx, ProfileAccountErased, erased.accountId, erased),
    removeFile: async (key) => await media.remove(key)
  })
