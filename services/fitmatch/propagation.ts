import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { isBlockedBy, isMatchedWith } from './profiles/queries.ts'

const LONGEST = 500
const PAUSE = 5

/**
 * Waits until social has heard how somebody stands to the owner of a profile now, so that his very next request finds it so there too.
 * No longer than half a second: what is done is done, and social hears of it whenever it can.
 */
export async function waitUntilPropagated ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>, accountId: string, profileId: string) {
  const now = await db.selectFrom('profiles').where('id', '=', profileId)
    .select(['account_id as otherId', isMatchedWith(accountId).as('isMatched'), isBlockedBy(accountId).as('hasBlocked')])
    .executeTakeFirst()
  if (!now) return
  const { otherId, isMatched, hasBlocked } = now
  const end = performance.now() + LONGEST
  try {
    while (performance.now() < end) {
      const heard = await callRpc(Connection, { accountId, otherId }, { timeoutMs: LONGEST })
      if (heard.isMatched === isMatched && heard.hasBlocked === hasBlocked) return
      await sleep(PAUSE)
    }
  } catch {
    // Nobody is there to hear it yet.
  }
}
