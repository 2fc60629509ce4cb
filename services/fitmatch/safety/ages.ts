import { publish } from '@tandem/bus-kit'
import { LikesWithdrawn } from '@tandem/contracts'
import { endPlacesOf } from '../activities/endings.ts'
import { endAllBuddies } from '../buddies/endings.ts'
import type { Deps } from '../deps.ts'
import { isTooYoung } from '../people/queries.ts'

/**
 * Ends the places and buddies of a person whose birth date says that they are too young to meet people, and what the
 * people they like were notified of. Their matches stay, so that those can still be reported, but nobody can write there.
 */
export async function endPlacesIfTooYoung ({ db, minAge }: Pick<Deps, 'db' | 'minAge'>, accountId: string) {
  await db.transaction().execute(async (trx) => {
    const tooYoung = await trx.selectFrom('profiles').where('account_id', '=', accountId)
      .where(isTooYoung(minAge))
      .select('id').forUpdate().executeTakeFirst()
    if (!tooYoung) return
    await endPlacesOf(trx, accountId)
    await endAllBuddies(trx, accountId)
    await publish(trx, LikesWithdrawn, accountId, { likerId: accountId, receiverIds: null })
  })
}
