import { createDepartures } from '@tandem/account-kit'
import { handleRpc } from '@tandem/bus-kit'
import { SocialAccountErased, SocialErasureCheck, SocialPersonalData } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createSocialDepartures = ({ db, media, callRpc }: Pick<Deps, 'db' | 'media' | 'callRpc'>) =>
  createDepartures({
    db,
    callRpc,
    personalData,
    report: SocialAccountErased,
    removeFile: async (key) => await media.remove(key)
  })

/** Provides the copy of a person's data, page by page. */
export const handlePersonalData = ({ departures }: Pick<Deps, 'departures'>) =>
  handleRpc(SocialPersonalData, async (page) => await departures.readPersonalData(page))

/** Counts again what is left of an erased account. */
export const handleErasureCheck = ({ departures }: Pick<Deps, 'departures'>) =>
  handleRpc(SocialErasureCheck, async ({ accountId }) => await departures.verify(accountId))
