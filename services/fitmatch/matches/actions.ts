import { publish } from '@tandem/bus-kit'
import { MatchEnded } from '@tandem/contracts'
import { sql } from 'kysely'
import { endPlacesBetween } from '../activities/endings.ts'
import { MatchNotFound } from '../errors.ts'
import { readParticipant } from '../people/queries.ts'
import type { Db, Trx } from '../tables.ts'
import { isSwipeBetween, lockPair, pairOf } from '../people/pairs.ts'

/**
 * Ends the match of two people, if there is one. From then on neither can read it. Its messages stay for 30 days,
 * visible to reports only, so leaving a match does not remove evidence. Call it under the pair's lock.
 */
export async function endMatch (trx: Trx, one: string, other: string) {
  const pair = pairOf(one, other)
  const ended = await trx.updateTable('matches').set({ ended_at: sql`now()` })
    .where('low_id', '=', pair.low_id).where('high_id', '=', pair.high_id).where('ended_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (ended) await publish(trx, MatchEnded, ended.id, { matchId: ended.id, accountIds: [pair.low_id, pair.high_id] })
  return ended
}

/** Ends a match for both. Neither is shown to the other again unless both swipe again. */
export async function unmatch (db: Db, accountId: string, matchId: string) {
  await readParticipant(db, accountId)
  await db.transaction().execute(async (trx) => {
    const pair = await trx.selectFrom('matches').where('id', '=', matchId).where('ended_at', 'is', null)
      .where((eb) => eb.or([eb('low_id', '=', accountId), eb('high_id', '=', accountId)]))
      .select(['low_id', 'high_id'])
      .executeTakeFirst()
    if (!pair) throw new MatchNotFound()
    await lockPair(trx, pair.low_id, pair.high_id)
    const ended = await endMatch(trx, pair.low_id, pair.high_id)
    if (ended?.id !== matchId) throw new MatchNotFound()
    await endPlacesBetween(trx, accountId, accountId === pair.low_id ? pair.high_id : pair.low_id)
    await trx.updateTable('swipes').set({ swipe_type: 'PASS' }).where(isSwipeBetween(pair.low_id, pair.high_id))
      .execute()
  })
}
