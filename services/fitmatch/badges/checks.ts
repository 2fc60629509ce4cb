import { sql } from 'kysely'
import { settleBatches, throwErrors } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { recalculateBadges } from './actions.ts'

const BATCH_SIZE = 100
const CONCURRENCY = 10

/**
 * Recalculates the badges that are due. Those whose facts cannot be read now stay due.
 * @throws the errors of these, after all others are done
 */
export async function runDueChecks (deps: Deps) {
  const { db } = deps
  // Nobody without a profile gets badges of FitMatch.
  await sql`
    delete from badge_checks where due_at <= now() and not exists (
      select from profiles where profiles.account_id = badge_checks.account_id)`.execute(db)
  throwErrors(
    await settleBatches({
      batchSize: BATCH_SIZE,
      concurrency: CONCURRENCY,
      async list (after) {
        const due = await db.selectFrom('badge_checks').where('due_at', '<=', sql<Date>`now()`)
          .$if(after !== undefined, (checks) => checks.where('account_id', '>', after as string))
          .select('account_id as accountId').orderBy('account_id').limit(BATCH_SIZE).execute()
        return due.map(({ accountId }) => accountId)
      },
      work: async (accountId) => await recalculateBadges(deps, accountId)
    })
  )
}
