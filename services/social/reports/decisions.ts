import { sql } from 'kysely'
import type Type from 'typebox'
import { hasTombstone } from '@tandem/account-kit'
import { claimOnce, publish } from '@tandem/bus-kit'
import { resolveCase, restrictionAfter } from '@tandem/case-kit'
import { ContentHidden, ContentReportResolved, SocialDecisionApplied, type DecisionMade } from '@tandem/contracts'
import type { Db, Trx } from '../tables.ts'

type Decision = Type.Static<typeof DecisionMade.data>

interface Received {
  eventId: string
  /** Grows from decision to decision about one account. */
  sequence: number
}

/** Carries out what a decision changes here, and confirms it. A repeat of the event changes nothing. */
export async function applyDecision (db: Db, decision: Decision, { eventId, sequence }: Received) {
  const { decisionId, accountId, case: decided, outcome } = decision
  await db.transaction().execute(async (trx) => {
    if (!await claimOnce(trx, eventId, 'decision')) return
    const resolved = decided?.service === 'social'
      ? await resolveCase(trx, decided.id, { decisionId, outcome, sequence })
      : undefined
    // A new row for an erased account would never be erased.
    if (!await hasTombstone(trx, accountId)) {
      await restrictPosting(trx, decision, sequence)
      if (resolved) await hideOrRestore(trx, decision, resolved, sequence)
    }
    if (decided && resolved?.isForReporters) await publishResolved(trx, decided.id, outcome)
    await publish(trx, SocialDecisionApplied, accountId, { decisionId })
  })
}

async function restrictPosting (trx: Trx, decision: Decision, sequence: number) {
  const restriction = restrictionAfter(decision, 'POSTING')
  if (restriction === undefined) return
  await sql`
    insert into posting_restrictions (account_id, restricted_until, sequence)
    values (${decision.accountId}, ${restriction === null ? sql`now()` : restriction.until}, ${sequence})
    on conflict (account_id) do update set restricted_until = excluded.restricted_until, sequence = excluded.sequence
      where posting_restrictions.sequence <= excluded.sequence`.execute(trx)
}

const tables = { POST: 'posts', COMMENT: 'comments', STORY: 'stories' } as const
const isTable = (targetType: string): targetType is keyof typeof tables => targetType in tables

/** Hides a thing from everybody but its author, or shows it again, unless a later decision about it was applied. */
async function hideOrRestore (
  trx: Trx,
  { accountId, actions }: Decision,
  { targetType, targetId }: { targetType: string, targetId: string },
  sequence: number
) {
  const change = actions.find(({ type }) => type === 'HIDE_CONTENT' || type === 'RESTORE_CONTENT')
  if (!change) return
  const { rows } = await sql`
    insert into content_decisions (target_type, target_id, account_id, sequence)
    values (${targetType}, ${targetId}, ${accountId}, ${sequence})
    on conflict (target_type, target_id) do update set sequence = excluded.sequence
      where content_decisions.sequence <= excluded.sequence
    returning target_id`.execute(trx)
  if (rows.length === 0 || !isTable(targetType)) return
  const isHidden = change.type === 'HIDE_CONTENT'
  await sql`
    update ${sql.table(tables[targetType])} set hidden_at = ${isHidden ? sql`now()` : null}
    where id = ${targetId}`.execute(trx)
  if (isHidden) await publish(trx, ContentHidden, targetId, { type: targetType, id: targetId, authorId: accountId })
}

async function publishResolved (trx: Trx, caseId: string, outcome: Decision['outcome']) {
  const reports = await trx.selectFrom('reports').where('case_id', '=', caseId)
    .select(['id', 'reporter_id as reporterId']).execute()
  for (const { id, reporterId } of reports) {
    if (reporterId) await publish(trx, ContentReportResolved, id, { reportId: id, reporterId, outcome })
  }
}
