import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { WakeUpSignal } from '@tandem/contracts/realtime'
import { lookupArray } from '@tandem/database-kit'
import { chunksOf } from '@tandem/process-kit'
import { logFrames, MAX_IDS_PER_FRAME } from '../frames/log.ts'
import type { Trx } from '../tables.ts'
import { planBadgeUpdates } from './badges.ts'
import { CHANGED_AT_ONCE } from './change-inbox.ts'
import type { DeliveryJob } from './plan.ts'

/**
 * Locks inboxes until the end of the transaction. Every change to an inbox takes this lock first, so two cannot
 * deadlock. @returns the accounts that have one
 */
export async function lockInboxes (trx: Trx, accountIds: string[]) {
  const { rows } = await sql<{ accountId: string }>`
    select account_id as "accountId" from inboxes where account_id = any(${lookupArray(accountIds, 'uuid')}::uuid[])
    order by account_id for update`.execute(trx)
  return rows.map(({ accountId }) => accountId)
}

interface Removal {
  /** Whether what they reported is no longer so. If it is reported again, they come back. */
  withdrawn?: boolean
  /** The session that removes them, whose device knows. */
  sessionId?: string
}

interface Removed {
  /** How many were listed. */
  removed: number
  /** The connections to wake after the commit, and the deliveries to enqueue. */
  signal: WakeUpSignal
  deliveries: DeliveryJob[]
  /** Whether there can be others, for another transaction. */
  hasMore: boolean
}

/**
 * Removes the notifications that match `condition` from inboxes, CHANGED_AT_ONCE at most, and cancels their unsent
 * pushes. Withdrawn ones do not quote anybody any more.
 */
export async function removeNotifications (
  trx: Trx,
  accountIds: string[],
  condition: RawBuilder<SqlBool>,
  { withdrawn = false, sessionId }: Removal = {}
): Promise<Removed> {
  await lockInboxes(trx, accountIds)
  const { rows } = await sql<{ accountId: string, removedIds: string[], changed: number }>`
    with removed as (
      update notifications set removed_at = coalesce(removed_at, now()), withdrawn = ${withdrawn},
        params = case when ${withdrawn} then params - 'excerpt' else params end
      where id = any(array(
        select id from notifications
        where account_id = any(${lookupArray(accountIds, 'uuid')}::uuid[]) and not withdrawn
          and (removed_at is null or ${withdrawn}) and ${condition}
        limit ${sql.lit(CHANGED_AT_ONCE)}))
      returning id, account_id, listed and old.removed_at is null as was_listed
    )
    select account_id as "accountId", coalesce(array_agg(id) filter (where was_listed), '{}') as "removedIds",
      count(*)::int as changed
    from removed group by account_id`
    .execute(trx)
  const removedIds = rows.flatMap((row) => row.removedIds)
  const changed = rows.reduce((sum, row) => sum + row.changed, 0)
  const signal = await logFrames(
    trx,
    rows.flatMap(({ accountId, removedIds }) =>
      chunksOf(removedIds, MAX_IDS_PER_FRAME).map((removedIds) => ({
        accountId,
        type: 'notifications.changed' as const,
        ids: { readIds: [], removedIds }
      }))
    )
  )
  return {
    removed: removedIds.length,
    signal,
    deliveries: await planBadgeUpdates(trx, removedIds, sessionId),
    hasMore: changed === CHANGED_AT_ONCE
  }
}
