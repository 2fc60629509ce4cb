import { createErasure } from '@tandem/account-kit'
import { handleRpc } from '@tandem/bus-kit'
import { SocialAccountErased, SocialErasureCheck, SocialPersonalData } from '@tandem/contracts'
import { isMediaKey } from '@tandem/media-url-kit'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createSocialErasure = (
  { db, media, uploadParts, callRpc }: Pick<Deps, 'db' | 'media' | 'uploadParts' | 'callRpc'>
) =>
  createErasure({
    db,
    callRpc,
    personalData,
    report: SocialAccountErased,
    removeFile: async (key) => await (isMediaKey(key) ? media.remove(key) : uploadParts.remove(key))
  })

/** Provides the copy of a person's data, page by page. */
export const handlePersonalData = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(SocialPersonalData, async (page) => await erasure.readPersonalData(page))

/** Counts again what is left of an erased account. */
export const handleErasureCheck = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(SocialErasureCheck, async ({ accountId }) => await erasure.verify(accountId))
