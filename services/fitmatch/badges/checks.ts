import { sql } from 'kysely'
import { settleEach } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { recalculateBadges } from './actions.ts'

const BATCH_SIZE = 100

/** Recalculates the badges that are due. Those whose facts cannot be read now stay due. */
export async function runDueChecks (deps: Deps) {
  const { db } = deps
  // Nobody without a profile gets badges of FitMatch.
  await sql`
    delete from badge_checks where due_at <= now() and not exists (
      select from profiles where profiles.account_id = badge_checks.account_id)`.execute(db)
  for (let found = BATCH_SIZE; found === BATCH_SIZE;) {
    const due = await db.selectFrom('badge_checks').where('due_at', '<=', sql<Date>`now()`)
      .select('account_id as accountId').orderBy('due_at').limit(BATCH_SIZE).execute()
    await settleEach(due, async ({ accountId }) => await recalculateBadges(deps, accountId))
    found = due.length
  }
}
