import { createErasure } from '@tandem/account-kit'
import { handleRpc, type CallRpc } from '@tandem/bus-kit'
import { ProfileAccountErased, ProfileErasureCheck, ProfilePersonalData } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createProfileErasure = ({ db, media, callRpc }: Pick<Deps, 'db' | 'media'> & { callRpc: CallRpc }) =>
  createErasure({
    db,
    callRpc,
    personalData,
    report: ProfileAccountErased,
    removeFile: async (key) => await media.remove(key)
  })

/** Provides the copy of a person's data, page by page. */
export const handlePersonalData = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(ProfilePersonalData, async (page) => await erasure.readPersonalData(page))

/** Counts again what is left of an erased account. */
export const handleErasureCheck = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(ProfileErasureCheck, async ({ accountId }) => await erasure.verify(accountId))
