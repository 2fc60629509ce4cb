import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '@tandem/contracts'
import type { Deps } from './deps.ts'
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
  const current = await db.selectFrom('profiles').where('id', '=', profileId)
    .select([
      'account_id as otherId',
      isMatchedWith(accountId).as('isMatched'),
      isBlockedBy(accountId).as('hasBlocked')
    ])
    .executeTakeFirst()
  if (!current) return
  const { otherId, isMatched, hasBlocked } = current
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
