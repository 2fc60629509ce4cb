import { Forbidden } from '@tandem/http-kit'
import { confirmProposal, propose, type Operator, type Proposal } from '@tandem/operator-kit'
import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { ErasureNotFound, UserNotFound } from '../errors.ts'
import type { Trx } from '../tables.ts'
import { holdErasure, releaseErasure, scheduleFor, type Hold } from './erasures.ts'

interface NewErasure {
  accountId: string
  days: number
  reason: string
}

/**
 * Schedules an erasure, or proposes it if it takes two operators.
 * @throws UserNotFound, DeletionPending, Forbidden, ProposalExists
 */
export async function eraseOrPropose (
  { db, fourEyes }: Pick<Deps, 'db' | 'fourEyes'>,
  operator: Operator,
  { accountId, days, reason }: NewErasure
) {
  if (operator.accountId === accountId) throw new Forbidden()
  return await db.transaction().execute(async (trx) => {
    if (!fourEyes.has('ERASE')) {
      const { id, eraseAt } = await scheduleFor(trx, { id: accountId }, days)
      return { id, eraseAt }
    }
    if (!await lockAccount(trx, { id: accountId })) throw new UserNotFound()
    return await propose(trx, operator, { kind: 'ERASE', subject: accountId, accountId, reason, payload: { days } })
  })
}

export async function confirmErasure ({ db }: Pick<Deps, 'db'>, operator: Operator, proposal: Proposal) {
  const { days } = proposal.payload as { days: number }
  await db.transaction().execute(async (trx) => {
    await lockAccount(trx, { id: proposal.subject })
    await confirmProposal(trx, operator, proposal)
    await scheduleFor(trx, { id: proposal.subject }, days)
  })
}

/** A hold, or the end of one. */
type HoldChange = { change: 'HOLD', hold: Hold } | { change: 'RELEASE', reason: string }

// As long as a proposal is open: an erasure that another operator has to hold must not begin before.
const INTERIM_DAYS = 3

/**
 * Holds an erasure or ends its hold, or proposes that if it takes two operators. A proposed hold holds already, for as
 * long as the proposal is open. @throws ErasureNotFound, ProposalExists; Forbidden about oneself
 */
export async function changeHoldOrPropose (
  { db, fourEyes }: Pick<Deps, 'db' | 'fourEyes'>,
  operator: Operator,
  id: string,
  change: HoldChange
) {
  return await db.transaction().execute(async (trx) => {
    const erasure = await trx.selectFrom('erasures').where('id', '=', id).where('begun_at', 'is', null)
      .where('status', 'in', change.change === 'HOLD' ? ['SCHEDULED', 'HELD'] : ['HELD'])
      .select(['account_id as accountId', 'status']).forUpdate().executeTakeFirst()
    if (!erasure) throw new ErasureNotFound()
    if (erasure.accountId === operator.accountId) throw new Forbidden()
    if (!fourEyes.has('HOLD')) {
      await changeHold(trx, id, change)
      return undefined
    }
    const isInterim = change.change === 'HOLD' && erasure.status === 'SCHEDULED'
    if (isInterim) {
      await holdErasure(trx, id, { ...change.hold, days: Math.min(change.hold.days, INTERIM_DAYS) })
    }
    return await propose(trx, operator, {
      kind: 'HOLD',
      subject: id,
      accountId: erasure.accountId,
      reason: change.change === 'HOLD' ? change.hold.reason : change.reason,
      payload: { ...change, isInterim }
    })
  })
}

async function changeHold (trx: Trx, id: string, change: HoldChange) {
  await (change.change === 'HOLD' ? holdErasure(trx, id, change.hold) : releaseErasure(trx, id))
}

export async function confirmHold ({ db }: Pick<Deps, 'db'>, operator: Operator, proposal: Proposal) {
  await db.transaction().execute(async (trx) => {
    await changeHold(trx, proposal.subject, proposal.payload as HoldChange)
    await confirmProposal(trx, operator, proposal)
  })
}

/** Ends the hold that stood for as long as the proposal did. */
export async function withdrawHold (trx: Trx, { subject, payload }: Proposal) {
  const { isInterim } = payload as { isInterim: boolean }
  // It may have ended by itself.
  if (isInterim) {
    await releaseErasure(trx, subject).catch((error: unknown) => {
      if (!(error instanceof ErasureNotFound)) throw error
    })
  }
}
