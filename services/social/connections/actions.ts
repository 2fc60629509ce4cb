import { sql } from 'kysely'
import { removeFollow, lockFollowCounts } from '../follows/actions.ts'
import type { Db } from '../tables.ts'

interface Block {
  blockerId: string
  blockedId: string
}

/** Applies a block, which also ends both follows, or lifts it. An older event never overwrites a newer one. */
export async function upsertBlock (
  db: Db,
  { blockerId, blockedId }: Block,
  { isLifted, at, sequence }: { isLifted: boolean, at: Date, sequence: number }
) {
  await db.transaction().execute(async (trx) => {
    // Following takes the same lock, so no follow can be inserted in between.
    await lockFollowCounts(trx, blockerId, blockedId)
    const block = { blocker_id: blockerId, is_lifted: isLifted, changed_at: at, sequence }
    const changed = await trx.insertInto('blocks')
      .values([
        { ...block, account_id: blockerId, other_id: blockedId },
        { ...block, account_id: blockedId, other_id: blockerId }
      ])
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'other_id', 'blocker_id'])
          .doUpdateSet({ is_lifted: isLifted, changed_at: at, sequence })
          .where('blocks.sequence', '<=', sequence)
      )
      .returning('account_id')
      .execute()
    if (isLifted || changed.length === 0) return
    await removeFollow(trx, { followerId: blockerId, followedId: blockedId })
    await removeFollow(trx, { followerId: blockedId, followedId: blockerId })
  })
}

interface Match {
  matchId: string
  accountIds: string[]
}

/** A match that has ended stays ended, even if its start is delivered later. */
export async function upsertMatch (db: Db, { matchId, accountIds }: Match, { hasEnded }: { hasEnded: boolean }) {
  const [one = '', other = ''] = accountIds
  await db.insertInto('matches')
    .values([
      { match_id: matchId, account_id: one, other_id: other, ended: hasEnded },
      { match_id: matchId, account_id: other, other_id: one, ended: hasEnded }
    ])
    .onConflict((conflict) =>
      conflict.columns(['match_id', 'account_id'])
        .doUpdateSet({ ended: sql`matches.ended or excluded.ended` })
    )
    .execute()
}
