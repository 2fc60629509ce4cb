import { createDepartures } from '@tandem/account-kit'
import { handleRpc } from '@tandem/bus-kit'
import { DashboardAccountErased, DashboardErasureCheck, DashboardPersonalData } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createDashboardDepartures = ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>) =>
  createDepartures({
    db,
    callRpc,
    personalData,
    report: DashboardAccountErased
  })

/** Provides the copy of a person's data, page by page. */
export const handlePersonalData = ({ departures }: Pick<Deps, 'departures'>) =>
  handleRpc(DashboardPersonalData, async (page) => await departures.readPersonalData(page))

/** Counts again what is left of an erased account. */
export const handleErasureCheck = ({ departures }: Pick<Deps, 'departures'>) =>
  handleRpc(DashboardErasureCheck, async ({ accountId }) => await departures.verify(accountId))
