import { createErasure } from '@tandem/account-kit'
import { handleRpc } from '@tandem/bus-kit'
import { DashboardAccountErased, DashboardErasureCheck, DashboardPersonalData } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createDashboardErasure = ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>) =>
  createErasure({
    db,
    callRpc,
    personalData,
    report: DashboardAccountErased
  })

/** Provides the copy of a person's data, page by page. */
export const handlePersonalData = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(DashboardPersonalData, async (page) => await erasure.readPersonalData(page))

/** Counts again what is left of an erased account. */
export const handleErasureCheck = ({ erasure }: Pick<Deps, 'erasure'>) =>
  handleRpc(DashboardErasureCheck, async ({ accountId }) => await erasure.verify(accountId))
