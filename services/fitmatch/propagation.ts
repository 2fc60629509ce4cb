import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { isBlockedBy, isMatchedWith } from './profiles/queries.ts'

const MAX_WAIT_MS = 500
const POLL_INTERVAL_MS = 5

/**
 * Waits until social knows how somebody stands to the owner of a profile now, so that his very next request finds it so there too.
 * No longer than half a second: what is done is done, and social hears of it whenever it can.
 */
export async function waitUntilPropagated ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>, accountId: string, profileId: string) {
  const now = await db.selectFrom('profiles').where('id', '=', profileId)
    .select(['account_id as otherId', isMatchedWith(accountId).as('isMatched'), isBlockedBy(accountId).as('hasBlocked')])
    .executeTakeFirst()
  if (!now) return
  const { otherId, isMatched, hasBlocked } = now
  const end = performance.now() + MAX_WAIT_MS
  try {
    while (performance.now() < end) {
      const known = await callRpc(Connection, { accountId, otherId }, { timeoutMs: MAX_WAIT_MS })
      if (known.isMatched === isMatched && known.hasBlocked === hasBlocked) return
      await sleep(POLL_INTERVAL_MS)
    }
  } catch {
    // Nobody is there to hear it yet.
  }
}
