import { createErasure } from '@tandem/account-kit'
import { handleRpc } from '@tandem/bus-kit'
import { FitMatchAccountErased, FitMatchErasureCheck, FitMatchPersonalData } from '@tandem/contracts'
import { isMediaKey } from '@tandem/media-url-kit'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'
import { isNeededAsEvidence } from './photos/files.ts'
import { isSelfieKey } from './verification/selfie-keys.ts'

/** The erasure of accounts in this service. */
export const createFitMatchErasure = (
  { db, media, selfies, callRpc }: Pick<Deps, 'db' | 'media' | 'selfies' | 'callRpc'>
) =>
  createErasure({
    db,
    callRpc,
    personalData,
    report: FitMatchAccountErased,
    removeFile: async (key) => {
      if (isSelfieKey(key)) await selfies.remove(key)
      else if (isMediaKey(key) && !await isNeededAsEvidence(db, key)) await media.remove(key)
    }
  })

/** Provides the copy of a person's data, page by page. */
export const handlePersonalData = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(FitMatchPersonalData, async (page) => await erasure.readPersonalData(page))

/** Counts again what is left of an erased account. */
export const handleErasureCheck = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(FitMatchErasureCheck, async ({ accountId }) => await erasure.verify(accountId))
