import { countPersonalData } from '@tandem/account-kit'
import type { CallRpc } from '@tandem/bus-kit'
import {
  DashboardErasureCheck,
  FitMatchErasureCheck,
  NotificationErasureCheck,
  ProfileErasureCheck,
  SocialErasureCheck
} from '@tandem/contracts'
import { ErasureNotFound } from '../errors.ts'
import { findErasure } from '../erasures/queries.ts'
import { personalData } from '../personal-data.ts'
import type { Db } from '../tables.ts'

const rpcs = [
  ProfileErasureCheck,
  SocialErasureCheck,
  FitMatchErasureCheck,
  DashboardErasureCheck,
  NotificationErasureCheck
]
const TIMEOUT_MS = 30_000

/**
 * Has every service count again what it holds of an erased account. @returns what is kept on purpose, by service
 * @throws ErasureNotFound unless the account is erased; Error if anything else is left; Unavailable
 */
export async function verifyErasure (db: Db, callRpc: CallRpc, id: string) {
  const erasure = await findErasure(db, id)
  if (!erasure?.erasedAt) throw new ErasureNotFound()
  const { accountId } = erasure
  const counts = [{ service: 'identity', ...await countPersonalData(db, personalData, accountId) }]
  for (const rpc of rpcs) {
    counts.push({ service: rpc.service, ...await callRpc(rpc, { accountId }, { timeoutMs: TIMEOUT_MS }) })
  }
  const left = counts.flatMap(({ service, left }) =>
    Object.entries(left).map(([table, rows]) => `${service}.${table}: ${rows}`)
  )
  if (left.length > 0) throw new Error(`rows of the account are left: ${left.join(', ')}`)
  return counts.map(({ service, kept }) => ({ service, kept }))
}
