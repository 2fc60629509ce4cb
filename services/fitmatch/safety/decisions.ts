import { sql } from 'kysely'
import type Type from 'typebox'
import { hasTombstone } from '@tandem/account-kit'
import { claimOnce, publish } from '@tandem/bus-kit'
import { resolveCase, restrictionAfter } from '@tandem/case-kit'
import { FitMatchDecisionApplied, ReportResolved, type DecisionMade } from '@tandem/contracts'
import { settleEach } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { lockMember } from '../people/actions.ts'
import type { Db, Trx } from '../tables.ts'
import { removePhoto, restorePhoto } from './removed-photos.ts'
import { setSuspended } from './suspensions.ts'

type Decision = Type.Static<typeof DecisionMade.data>

/** Carries out what a decision changes here, and confirms it. A repeat of the event changes nothing. */
export async function applyDecision (
  deps: Deps,
  decision: Decision,
  { eventId, sequence }: { eventId: string, sequence: number }
) {
  const { accountId, actions } = decision
  // Before the confirmation: a crash between the two repeats it, which changes nothing.
  for (const { type, photoId } of actions) {
    if (photoId === null) continue
    await (type === 'REMOVE_PHOTO' ? removePhoto : restorePhoto)(deps, { accountId, photoId, sequence })
  }
  await deps.db.transaction().execute(async (trx) => {
    if (!await claimOnce(trx, eventId, 'decision')) return
    if (!await hasTombstone(trx, accountId)) await applySuspension(trx, decision, sequence)
    await applyToCase(trx, decision, sequence)
    await publish(trx, FitMatchDecisionApplied, accountId, { decisionId: decision.decisionId })
  })
}

async function applySuspension (trx: Trx, decision: Decision, sequence: number) {
  const { accountId, automated } = decision
  const restriction = restrictionAfter(decision, 'FITMATCH')
  // This service made an automated decision itself.
  if (restriction === undefined || automated) return
  await lockMember(trx, accountId)
  const { numUpdatedRows } = await trx.updateTable('members').set({ decision_sequence: sequence })
    .where('account_id', '=', accountId).where('decision_sequence', '<=', sequence).executeTakeFirst()
  if (numUpdatedRows === 0n) return
  const until = restriction?.until ? new Date(restriction.until) : null
  await setSuspended(trx, accountId, restriction !== null, { until, isDecision: true })
}

async function applyToCase (
  trx: Trx,
  { decisionId, case: decided, outcome, automated }: Decision,
  sequence: number
) {
  if (decided?.service !== 'fitmatch' || automated) return
  const resolved = await resolveCase(trx, decided.id, { decisionId, outcome, sequence })
  if (!resolved?.isForReporters) return
  const action = outcome === 'ACTION_TAKEN' ? 'SUSPEND' : 'DISMISS'
  const reports = await trx.updateTable('reports').set({ status: 'RESOLVED', action, resolved_at: sql`now()` })
    .where('case_id', '=', decided.id).returning(['id', 'reporter_id as reporterId'])
    .execute()
  for (const { id, reporterId } of reports) {
    await publish(trx, ReportResolved, id, { reportId: id, reporterId, action, outcome })
  }
}

/** Ends the suspensions whose time is over. @throws the errors of those that failed, after all others have ended */
export async function liftEndedSuspensions (db: Db) {
  const ended = await db.selectFrom('members').where('suspended_until', '<=', sql<Date>`now()`)
    .select('account_id as accountId').limit(1_000).execute()
  await settleEach(ended, async ({ accountId }) => {
    await db.transaction().execute(async (trx) => {
      await lockMember(trx, accountId)
      // A later decision may have changed it meanwhile.
      const { numUpdatedRows } = await trx.updateTable('members').set({ suspended_until: null })
        .where('account_id', '=', accountId).where('suspended_until', '<=', sql<Date>`now()`).executeTakeFirst()
      if (numUpdatedRows > 0n) await setSuspended(trx, accountId, false)
    })
  })
}
