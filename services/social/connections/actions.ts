import { sql } from 'kysely'
import { removeFollow, lockStandings } from '../follows/actions.ts'
import type { Db } from '../tables.ts'

interface Block { blockerId: string, blockedId: string }

/** From now on neither exists for the other, and neither follows the other; news that come late do not undo newer ones. */
export async function upsertBlock (db: Db, { blockerId, blockedId }: Block, { lifted, at, sequence }: { lifted: boolean, at: Date, sequence: number }) {
  await db.transaction().execute(async (trx) => {
    // The lock that following takes too, lest a follow slips in between.
    await lockStandings(trx, blockerId, blockedId)
    const changed = await trx.insertInto('blocks')
      .values([
        { account_id: blockerId, other_id: blockedId, blocker_id: blockerId, lifted, changed_at: at, sequence },
        { account_id: blockedId, other_id: blockerId, blocker_id: blockerId, lifted, changed_at: at, sequence }
      ])
      .onConflict((conflict) => conflict.columns(['account_id', 'other_id', 'blocker_id'])
        .doUpdateSet({ lifted, changed_at: at, sequence })
        .where('blocks.sequence', '<=', sequence))
      .returning('account_id')
      .execute()
    if (lifted || changed.length === 0) return
    await removeFollow(trx, { followerId: blockerId, followedId: blockedId })
    await removeFollow(trx, { followerId: blockedId, followedId: blockerId })
  })
}

interface Match { matchId: string, accountIds: string[] }

/** An end that is heard before its beginning stays an end. */
export async function upsertMatch (db: Db, { matchId, accountIds }: Match, { ended }: { ended: boolean }) {
  const [one = '', other = ''] = accountIds
  await db.insertInto('matches')
    .values([
      { match_id: matchId, account_id: one, other_id: other, ended },
      { match_id: matchId, account_id: other, other_id: one, ended }
    ])
    .onConflict((conflict) => conflict.columns(['match_id', 'account_id'])
      .doUpdateSet({ ended: sql`matches.ended or excluded.ended` }))
    .execute()
}
