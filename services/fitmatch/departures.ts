import { createDepartures } from '@tandem/account-kit'
import { publish, type CallRpc } from '@tandem/bus-kit'
import { FitMatchAccountErased } from '@tandem/contracts'
import { isMediaKey } from '@tandem/http-kit'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'
import { isRetained } from './photos/files.ts'
import { isSelfieKey } from './verification/selfie-keys.ts'

/** The erasure of accounts in this service. */
export const createFitMatchDepartures = (
  { db, media, selfies, callRpc }: Pick<Deps, 'db' | 'media' | 'selfies'> & { callRpc: CallRpc }
) =>
  createDepartures({
    service: 'fitmatch',
    db,
    callRpc,
    personalData,
    report: async (trx, erased) => await publish(trx, FitMatchAccountErased, erased.accountId, erased),
    removeFile: async (key, accountId) => {
      if (isSelfieKey(key)) await selfies.remove(key)
      else if (isMediaKey(key) && !await isRetained(db, key, accountId)) await media.remove(key)
    }
  })
