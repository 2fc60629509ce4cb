import { createErasure } from '@tandem/account-kit'
import { handleRpc } from '@tandem/bus-kit'
import { NotificationAccountErased, NotificationErasureCheck, NotificationPersonalData } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createNotificationErasure = ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>) =>
  createErasure({
    db,
    callRpc,
    personalData,
    report: NotificationAccountErased
  })

/** Provides the copy of a person's data, page by page. */
export const handlePersonalData = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(NotificationPersonalData, async (page) => await erasure.readPersonalData(page))

/** Counts again what is left of an erased account. */
export const handleErasureCheck = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(NotificationErasureCheck, async ({ accountId }) => await erasure.verify(accountId))
