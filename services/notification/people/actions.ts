import { removeNoticesBetween } from '../inbox/withdrawals.ts'
import type { Db } from '../tables.ts'

interface Block { blockerId: string, blockedId: string }

/** Notes that one does not exist for the other, or does again; the later of two pieces of news holds. */
export async function upsertBlock (db: Db, { blockerId, blockedId }: Block, { lifted, at, sequence }: { lifted: boolean, at: Date, sequence: number }) {
  await db.transaction().execute(async (trx) => {
    const kept = await trx.insertInto('blocks')
      .values({ blocker_id: blockerId, blocked_id: blockedId, lifted, changed_at: at, sequence })
      .onConflict((conflict) => conflict.columns(['blocker_id', 'blocked_id'])
        .doUpdateSet({ lifted, changed_at: at, sequence })
        .where('blocks.sequence', '<=', sequence))
      .returning('blocker_id')
      .executeTakeFirst()
    if (kept && !lifted) await removeNoticesBetween(trx, blockerId, blockedId)
  })
}
