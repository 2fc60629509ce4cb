import { sql, type UpdateObject } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { PersonHidden } from '@tandem/contracts'
import type { Tables, Trx } from './tables.ts'

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
    .returning(sql<boolean>`(leaving_at is not null or paused_at is not null or banned_at is not null
      or coalesce(restricted_until > now(), false))`.as('hidden'))
    .executeTakeFirstOrThrow()
  await publish(trx, PersonHidden, accountId, { accountId, hidden })
}
