import { createErasure } from '@tandem/account-kit'
import { handleRpc } from '@tandem/bus-kit'
import { FitMatchAccountErased, FitMatchErasureCheck, FitMatchPersonalData } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'
import { deleteUnused, markUnused } from './photos/files.ts'
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
      if (isSelfieKey(key)) return await selfies.remove(key)
      // It may be evidence that is not copied yet.
      await markUnused(db, [key])
      await deleteUnused({ db, media }, [key])
    }
  })

/** Provides the copy of a person's data, page by page. */
export const handlePersonalData = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(FitMatchPersonalData, async (page) => await erasure.readPersonalData(page))

/** Counts again what is left of an erased account. */
export const handleErasureCheck = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(FitMatchErasureCheck, async ({ accountId }) => await erasure.verify(accountId))
