import { createDepartures } from '@tandem/account-kit'
import { publish, type CallRpc } from '@tandem/bus-kit'
import { DashboardAccountErased } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createDashboardDepartures = ({ db, cache, callRpc }: Pick<Deps, 'db' | 'cache'> & { callRpc: CallRpc }) =>
  createDepartures({
    service: 'dashboard',
    db,
    callRpc,
    personalData,
    report: async (trx, erased) => await publish(trx, DashboardAccountErased, erased.accountId, erased),
    forget: async (accountId) => await cache.invalidate(accountId)
  })
