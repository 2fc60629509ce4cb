import { createDepartures } from '@tandem/account-kit'
import { publish, type CallRpc } from '@tandem/bus-kit'
import { NotificationAccountErased } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { personalData } from './personal-data.ts'

/** The erasure of accounts in this service. */
export const createNotificationDepartures = ({ db, callRpc }: Pick<Deps, 'db'> & { callRpc: CallRpc }) =>
  createDepartures({
    service: 'notification',
    db,
    callRpc,
    personalData,
    report: async (trx, erased) => await publish(trx, NotificationAccountErased, erased.accountId, erased)
  })
