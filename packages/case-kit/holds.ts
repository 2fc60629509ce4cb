import { sql, type Kysely, type Transaction } from 'kysely'
import { Forbidden } from '@tandem/http-kit'
import {
  confirmProposal,
  propose,
  type Operator,
  type OperatorTables,
  type Proposal,
  type ProposalHandler,
  type ProposalKind
} from '@tandem/operator-kit'
import { CaseNotFound } from './errors.ts'
import type { CaseTables } from './tables.ts'

type Tables = CaseTables & OperatorTables

interface HoldChange {
  isHeld: boolean
  reason: string
}

/** Holds a case, so that it is never purged, or ends that. @throws CaseNotFound; Forbidden about oneself */
async function setHeld (trx: Transaction<Tables>, operator: Operator, id: string, isHeld: boolean) {
  const { rows: [changed] } = await sql<{ accountId: string }>`
    update cases set is_held = ${isHeld} where id = ${id} and purged_at is null returning account_id as "accountId"`
    .execute(trx)
  if (!changed) throw new CaseNotFound()
  if (changed.accountId === operator.accountId) throw new Forbidden()
}

/**
 * Holds a case or ends its hold, or proposes that if it takes two operators. While it is proposed, the case is kept.
 * @throws CaseNotFound, Forbidden, ProposalExists
 * @returns the proposal, if it is one
 */
export async function changeHoldOrPropose (
  { db, fourEyes }: { db: Kysely<Tables>, fourEyes: ReadonlySet<ProposalKind> },
  operator: Operator,
  id: string,
  { isHeld, reason }: HoldChange
) {
  return await db.transaction().execute(async (trx) => {
    if (!fourEyes.has('HOLD')) return await setHeld(trx, operator, id, isHeld)
    const { rows: [found] } = await sql<{ accountId: string }>`
      select account_id as "accountId" from cases where id = ${id} and purged_at is null for update`.execute(trx)
    if (!found) throw new CaseNotFound()
    if (found.accountId === operator.accountId) throw new Forbidden()
    // Without the account: its erasure must not take a hold of the evidence with it.
    return await propose(trx, operator, { kind: 'HOLD', subject: id, accountId: null, reason, payload: { isHeld } })
  })
}

/** How a service carries out proposed holds of its cases. */
export const caseHoldHandler = (db: Kysely<Tables>): ProposalHandler<Tables> => ({
  async confirm (operator: Operator, proposal: Proposal) {
    const { isHeld } = proposal.payload as Pick<HoldChange, 'isHeld'>
    await db.transaction().execute(async (trx) => {
      await setHeld(trx, operator, proposal.subject, isHeld)
      await confirmProposal(trx, operator, proposal)
    })
  }
})
