import { sql } from 'kysely'
import { record } from '@tandem/bus-kit'
import { SuspensionChanged } from '@tandem/contracts'
import { lockMember } from '../people/actions.ts'
import type { Trx } from '../schema.ts'

/** Takes an account out of FitMatch, or puts it back. It is the account that is suspended, so that a new profile is suspended too. */
export async function setSuspended (trx: Trx, accountId: string, suspended: boolean) {
  const member = await lockMember(trx, accountId)
  if ((member.suspended_at !== null) === suspended) return
  await trx.updateTable('members').set({ suspended_at: suspended ? sql`now()` : null }).where('account_id', '=', accountId).execute()
  await trx.updateTable('profiles').set({ suspended, updated_at: sql`now()` }).where('account_id', '=', accountId).execute()
  await record(trx, SuspensionChanged, accountId, { accountId, suspended })
}
