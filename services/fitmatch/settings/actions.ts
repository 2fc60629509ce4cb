import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { LikesWithdrawn } from '@tandem/contracts'
import { ProfileMissing, ProfileSuspended } from '../errors.ts'
import type { Db } from '../tables.ts'

export interface Settings {
  status?: 'ACTIVE' | 'PAUSED'
  showOnlineStatus?: boolean
  showDistance?: boolean
  showLastActive?: boolean
}

/**
 * Changes the given settings. A suspended profile cannot be paused or resumed; only an operator can lift the
 * suspension.
 */
export async function updateSettings (
  db: Db,
  accountId: string,
  { status, showOnlineStatus, showDistance, showLastActive }: Settings
) {
  return await db.transaction().execute(async (trx) => {
    const profile = await trx.selectFrom('profiles').where('account_id', '=', accountId)
      .select(['suspended', 'paused']).forUpdate()
      .executeTakeFirst()
    if (!profile) throw new ProfileMissing()
    if (status !== undefined && profile.suspended) throw new ProfileSuspended()
    // Nobody sees the likes of a paused profile.
    if (status === 'PAUSED' && !profile.paused) {
      await publish(trx, LikesWithdrawn, accountId, { likerId: accountId, receiverIds: null })
    }
    return await trx.updateTable('profiles')
      .set({
        paused: status === undefined ? undefined : status === 'PAUSED',
        show_online_status: showOnlineStatus,
        show_distance: showDistance,
        show_last_active: showLastActive,
        updated_at: sql`now()`
      })
      .where('account_id', '=', accountId)
      .returning([
        'status',
        'show_online_status as showOnlineStatus',
        'show_distance as showDistance',
        'show_last_active as showLastActive'
      ])
      .executeTakeFirstOrThrow()
  })
}
