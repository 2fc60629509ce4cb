import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Connection } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { findAccountOfProfile } from './people/queries.ts'
import { isBlockedBy, isMatchedWith } from './people/visibility.ts'

const MAX_WAIT_MS = 500
const POLL_INTERVAL_MS = 5

/**
 * Waits until social has consumed the caller's latest block, unblock or match with the owner of a profile, so that the
 * caller's next request sees it there too. It waits at most half a second: the change is already committed, and social
 * consumes it as soon as it can.
 */
export async function waitUntilPropagated (
  { db, callRpc }: Pick<Deps, 'db' | 'callRpc'>,
  accountId: string,
  profileId: string
) {
  const otherId = await findAccountOfProfile(db, profileId)
  if (otherId !== undefined) await waitUntilPersonPropagated({ db, callRpc }, accountId, otherId)
}

/** The same for an account. */
export async function waitUntilPersonPropagated (
  { db, callRpc }: Pick<Deps, 'db' | 'callRpc'>,
  accountId: string,
  otherId: string
) {
  const { rows: [current] } = await sql<{ isMatched: boolean, hasBlocked: boolean }>`
    select ${isMatchedWith(accountId)} as "isMatched", ${isBlockedBy(accountId)} as "hasBlocked"
    from (select ${otherId}::uuid as account_id) as profiles`.execute(db)
  const { isMatched, hasBlocked } = current!
  const deadline = performance.now() + MAX_WAIT_MS
  try {
    while (performance.now() < deadline) {
      const known = await callRpc(Connection, { accountId, otherId }, { timeoutMs: MAX_WAIT_MS })
      if (known.isMatched === isMatched && known.hasBlocked === hasBlocked) return
      await sleep(POLL_INTERVAL_MS)
    }
  } catch {
    // Social is unavailable. It consumes the event later.
  }
}
