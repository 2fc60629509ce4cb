import { createDepartures } from '@tandem/account-kit'
import { handleRpc, type CallRpc } from '@tandem/bus-kit'
import { ProfileAccountErased, ProfileErasureCheck, ProfilePersonalData } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createProfileDepartures = ({ db, media, callRpc }: Pick<Deps, 'db' | 'media'> & { callRpc: CallRpc }) =>
  createDepartures({
    db,
    callRpc,
    personalData,
    report: ProfileAccountErased,
    removeFile: async (key) => await media.remove(key)
  })

/** Provides the copy of a person's data, page by page. */
export const handlePersonalData = ({ departures }: Pick<Deps, 'departures'>) =>
  handleRpc(ProfilePersonalData, async (page) => await departures.readPersonalData(page))

/** Counts again what is left of an erased account. */
export const handleErasureCheck = ({ departures }: Pick<Deps, 'departures'>) =>
  handleRpc(ProfileErasureCheck, async ({ accountId }) => await departures.verify(accountId))
