import { sql, type UpdateObject } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { PersonHidden } from '@tandem/contracts'
import type { Tables, Trx } from './tables.ts'

/** Whether others see the person of the row of `accounts`. */
export const isShown = sql<boolean>`(leaving_at is null and paused_at is null and banned_at is null
  and not coalesce(restricted_until > now(), false))`

/**
 * Changes one of the reasons for which nobody else sees a person, and publishes whether they are hidden now. The caller
 * holds the lock of the account.
 */
export async function setHidden (
  trx: Trx,
  accountId: string,
  reason: Pick<UpdateObject<Tables, 'accounts'>, 'leaving_at' | 'paused_at' | 'banned_at' | 'restricted_until'>
) {
  const { hidden } = await trx.updateTable('accounts').set({ ...reason, updated_at: sql`now()` })
    .where('id', '=', accountId)
    .returning(sql<boolean>`not ${isShown}`.as('hidden'))
    .executeTakeFirstOrThrow()
  await publish(trx, PersonHidden, accountId, { accountId, hidden })
}
