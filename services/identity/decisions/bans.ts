import { Forbidden } from '@tandem/http-kit'
import { appendAudit, confirmProposal, propose, type Operator, type Proposal } from '@tandem/operator-kit'
import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import { endRestrictionsOf, recordDecision } from './actions.ts'
import { readCase, toDecided } from './cases.ts'
import type { NewDecision } from './schemas.ts'

const INTERIM_MS = 72 * 60 * 60 * 1_000

interface BanProposal {
  decision: NewDecision
  /** The decision that restricts the account until the ban is confirmed. */
  interimId: string
}

/**
 * Proposes a ban to another operator. Meanwhile everything is restricted, for at most 72 hours.
 * @throws CaseNotFound, CaseChanged, UserNotFound, ProposalExists, Unavailable
 */
export async function proposeBan (deps: Deps, operator: Operator, decision: NewDecision, requestId: string) {
  const { accountId, reason, statement, note } = decision
  await readCase(deps, operator, decision)
  const { db, mailer } = deps
  const { mail, proposal } = await db.transaction().execute(async (trx) => {
    const until = new Date(Date.now() + INTERIM_MS).toISOString()
    // Without the case, which stays open until the ban is confirmed.
    const interim = await recordDecision(trx, deps, {
      accountId,
      case: null,
      actions: [{ type: 'RESTRICT', scope: 'ALL', until, photoId: null }],
      reason,
      statement,
      note: note || null,
      staffId: operator.id,
      isInterim: true
    })
    const payload: BanProposal = { decision, interimId: interim.id }
    const proposal = await propose(trx, operator, { kind: 'BAN', subject: accountId, accountId, reason, payload })
    const entry = { subject: proposal.proposalId, accountId, reason, requestId }
    await appendAudit(trx, { operator, action: 'PROPOSAL BAN', ...entry })
    return { mail: interim.mail, proposal }
  })
  await mailer.enqueue([mail])
  return proposal
}

/**
 * Makes a ban that another operator proposed. Of several confirmations at once, one makes it.
 * @throws Forbidden, ProposalNotFound, CaseNotFound, CaseChanged, UserNotFound, Unavailable
 */
export async function confirmBan (deps: Deps, operator: Operator, proposal: Proposal, requestId: string) {
  const { decision, interimId } = proposal.payload as BanProposal
  const { accountId, reason, statement, note } = decision
  if (operator.accountId === accountId) throw new Forbidden()
  const decided = await readCase(deps, operator, decision)
  const { db, mailer } = deps
  const { id, mail } = await db.transaction().execute(async (trx) => {
    // The account first, as in every transaction here.
    await lockAccount(trx, { id: accountId })
    await confirmProposal(trx, operator, proposal)
    const recorded = await recordDecision(trx, deps, {
      accountId,
      case: decided,
      actions: decision.actions.map(toDecided),
      reason,
      statement,
      note: note || null,
      staffId: proposal.proposedBy,
      confirmedBy: operator.id
    })
    await endInterim(trx, accountId, interimId)
    const entry = { subject: recorded.id, accountId, reason, requestId }
    await appendAudit(trx, { operator, action: 'DECISION BAN, CONFIRMED', ...entry })
    return recorded
  })
  await mailer.enqueue([mail])
  return id
}

/** Ends what was restricted until the decision about a ban; other restrictions stay. */
export async function withdrawBan (trx: Trx, { accountId, payload }: Proposal) {
  if (accountId !== null) await endInterim(trx, accountId, (payload as BanProposal).interimId)
}

async function endInterim (trx: Trx, accountId: string, decisionId: string) {
  // An erased account has no restriction any more.
  if (!await lockAccount(trx, { id: accountId })) return
  await endRestrictionsOf(trx, accountId, decisionId)
}
