import { on } from '@tandem/bus-kit'
import { Connection, PersonUnfollowed } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { lockPair } from '../people/pairs.ts'
import { isConnectedWith } from '../people/visibility.ts'
import { withdrawInvitations } from './endings.ts'

/** Somebody who no longer follows a host, and is neither matched with them nor their buddy, loses open invitations. Places stay. */
export const onPersonUnfollowed = ({ db, callRpc }: Deps) =>
  on(PersonUnfollowed, async ({ data: { followerId: guestId, followedId: hostId } }) => {
    // The event may be late: they may follow again.
    const { isFollower } = await callRpc(Connection, { accountId: hostId, otherId: guestId })
    if (isFollower) return
    await db.transaction().execute(async (trx) => {
      await lockPair(trx, hostId, guestId)
      const connected = await trx.selectFrom('profiles').where('account_id', '=', guestId)
        .where(isConnectedWith(hostId))
        .select('id')
        .executeTakeFirst()
      if (!connected) await withdrawInvitations(trx, hostId, guestId)
    })
  })
