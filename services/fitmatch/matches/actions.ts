import { record } from '@tandem/bus-kit'
import { MatchEnded } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { MatchNotFound } from '../errors.ts'
import { discardUnlessKept } from '../photos/files.ts'
import { readParticipant } from '../profiles/queries.ts'
import { lockPair } from './pairs.ts'

/** Ends a match and removes its messages. Neither is shown to the other again unless one of them asks for it anew. */
export async function unmatch ({ db, media }: Deps, accountId: string, matchId: string) {
  await readParticipant(db, accountId)
  const pictures = await db.transaction().execute(async (trx) => {
    const pair = await trx.selectFrom('matches').where('id', '=', matchId).where('ended_at', 'is', null)
      .where((eb) => eb.or([eb('low_id', '=', accountId), eb('high_id', '=', accountId)]))
      .select(['low_id', 'high_id'])
      .executeTakeFirst()
    if (!pair) throw new MatchNotFound()
    await lockPair(trx, pair.low_id, pair.high_id)
    const sent = await trx.selectFrom('messages').where('match_id', '=', matchId).where('image_url', 'is not', null)
      .select(['image_url as url', 'sender_id as owner']).execute()
    const ended = await trx.deleteFrom('matches').where('id', '=', matchId).where('ended_at', 'is', null).returning('id').executeTakeFirst()
    if (!ended) throw new MatchNotFound()
    await trx.updateTable('swipes').set({ swipe_type: 'PASS' })
      .where((eb) => eb.or([
        eb.and([eb('swiper_id', '=', pair.low_id), eb('target_id', '=', pair.high_id)]),
        eb.and([eb('swiper_id', '=', pair.high_id), eb('target_id', '=', pair.low_id)])
      ]))
      .execute()
    await record(trx, MatchEnded, matchId, { matchId, accountIds: [pair.low_id, pair.high_id] })
    return sent
  })
  await discardUnlessKept({ db, media }, pictures.map(({ url, owner }) => ({ url: url ?? '', owner })))
}
