import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { chunksOf } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { removeLikesBetween } from '../likes/digests.ts'
import { lockInboxes, removeNotifications } from '../notifications/removal.ts'
import { changeInbox, CHANGED_AT_ONCE, joinChanges } from '../notifications/change-inbox.ts'
import { about } from '../notifications/subjects.ts'
import { lockSubjects } from '../notifications/withdraw.ts'
import type { Trx } from '../tables.ts'

interface Block {
  blockerId: string
  blockedId: string
}

/**
 * Stores a block or its end; the later of two events wins. A block removes the notifications between the two people.
 */
export async function upsertBlock (
  deps: Pick<Deps, 'db' | 'wakeUp' | 'pushes'>,
  { blockerId, blockedId }: Block,
  { lifted, at, sequence }: { lifted: boolean, at: Date, sequence: number }
) {
  await changeInbox(deps, async (trx) => {
    // A notification of one of them that is being written is either removed here, or sees the block.
    await lockSubjects(trx, [about.person(blockerId), about.person(blockedId)], 'ALONE')
    const stored = await trx.insertInto('blocks')
      .values({ blocker_id: blockerId, blocked_id: blockedId, lifted, changed_at: at, sequence })
      .onConflict((conflict) =>
        conflict.columns(['blocker_id', 'blocked_id'])
          .doUpdateSet({ lifted, changed_at: at, sequence })
          .where('blocks.sequence', '<=', sequence)
      )
      .returning('blocker_id')
      .executeTakeFirst()
    return stored && !lifted ? await removeNotificationsBetween(trx, blockerId, blockedId) : { signal: [] }
  })
}

/** Removes what two people were notified of each other, and of things of each other. */
async function removeNotificationsBetween (trx: Trx, one: string, other: string) {
  await lockInboxes(trx, [one, other])
  return joinChanges([
    await removeNotificationsOf(trx, { accountId: one, otherId: other }),
    await removeNotificationsOf(trx, { accountId: other, otherId: one })
  ])
}

async function removeNotificationsOf (trx: Trx, { accountId, otherId }: { accountId: string, otherId: string }) {
  const remove = async (which: RawBuilder<SqlBool>) =>
    await removeNotifications(trx, [accountId], which, { withdrawn: true })
  const changes = [await remove(sql`(actor_id = ${otherId} and kind <> 'postLiked' or owner_id = ${otherId})`)]
  // All of them now: another transaction would not find them again.
  const emptied = await removeLikesBetween(trx, { accountId, likedBy: otherId })
  for (const ids of chunksOf(emptied, CHANGED_AT_ONCE)) changes.push(await remove(sql`id = any(${ids}::uuid[])`))
  return joinChanges(changes)
}
