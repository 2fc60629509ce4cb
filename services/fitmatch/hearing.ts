import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Connection } from '@tandem/contracts'
import type { Deps } from './deps.ts'
import { pairOf } from './matches/pairs.ts'
import type { Db } from './schema.ts'

const LONGEST = 500
const PAUSE = 5

/**
 * Waits until social has heard how somebody stands to the owner of a profile now, so that his very next request finds it so there too.
 * No longer than half a second: what is done is done, and social hears of it whenever it can.
 */
export async function untilHeard ({ db, ask }: Pick<Deps, 'db' | 'ask'>, accountId: string, profileId: string) {
  const now = await findConnection(db, accountId, profileId)
  if (!now) return
  const { otherId, isMatched, hasBlocked } = now
  const end = performance.now() + LONGEST
  try {
    while (performance.now() < end) {
      const heard = await ask(Connection, { accountId, otherId }, { deadline: LONGEST })
      if (heard.isMatched === isMatched && heard.hasBlocked === hasBlocked) return
      await sleep(PAUSE)
    }
  } catch {
    // Nobody is there to hear it yet.
  }
}

async function findConnection (db: Db, accountId: string, profileId: string) {
  const profile = await db.selectFrom('profiles').where('id', '=', profileId).select('account_id as otherId').executeTakeFirst()
  if (!profile) return
  const { otherId } = profile
  const { low_id, high_id } = pairOf(accountId, otherId)
  const { rows } = await sql<{ isMatched: boolean, hasBlocked: boolean }>`
    select exists (select from matches where low_id = ${low_id} and high_id = ${high_id} and ended_at is null) as "isMatched",
      exists (select from blocks where blocker_id = ${accountId} and blocked_id = ${otherId}) as "hasBlocked"`.execute(db)
  return { otherId, ...rows[0]! }
}
