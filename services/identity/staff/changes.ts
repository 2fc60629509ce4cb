import { Forbidden } from '@tandem/http-kit'
import {
  appendAudit,
  confirmProposal,
  propose,
  type Operator,
  type Proposal,
  type StaffRole
} from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { StaffExists } from '../errors.ts'
import type { Trx } from '../tables.ts'
import { insertStaff, lockStaff, readInvitable, readStaff, setStaffRole } from './actions.ts'
import { mailInvitation } from './invitations.ts'

/** A change of who the operators are. */
export type StaffChange =
  | { change: 'INVITE', email: string, role: StaffRole, accountId?: string | undefined }
  | { change: 'INVITE_AGAIN', id: string }
  | { change: 'SET_ROLE', id: string, role: StaffRole }
  | { change: 'REMOVE', id: string }

type Requested = StaffChange & { language: string }

type StaffDeps = Pick<Deps, 'db' | 'console' | 'mailer'>

/**
 * Changes who the operators are, or proposes it if it takes two administrators.
 * @throws StaffExists, StaffNotFound, LastAdmin, ProposalExists, RateLimited; Forbidden about one's own role
 * @returns the proposal, if it is one
 */
export async function changeOrPropose (
  { db, console, mailer }: StaffDeps,
  operator: Operator,
  requested: Requested,
  requestId: string
) {
  const isOwn = 'id' in requested && requested.id === operator.id
  if (isOwn && requested.change !== 'INVITE_AGAIN') throw new Forbidden()
  const { proposal, mails } = await db.transaction().execute(async (trx) => {
    await lockStaff(trx)
    const subject = await readAddress(trx, requested)
    const entry = { operator, subject, accountId: null, reason: null, requestId }
    if (!await takesTwo(trx, requested)) {
      const mails = await carryOut(trx, console, operator.id, requested)
      await appendAudit(trx, { ...entry, action: nameOf(requested) })
      return { proposal: undefined, mails }
    }
    const proposed = { kind: 'STAFF', subject, accountId: null, reason: '', payload: requested } as const
    const proposal = await propose(trx, operator, proposed)
    await appendAudit(trx, { ...entry, action: `PROPOSAL ${nameOf(requested)}` })
    return { proposal, mails: [] }
  })
  void mailer.enqueue(mails)
  return proposal
}

/** The address of the operator that a change is about. @throws StaffExists, StaffNotFound */
async function readAddress (trx: Trx, requested: StaffChange) {
  if ('id' in requested) return (await readStaff(trx, requested.id)).email
  const { email } = requested
  if (await trx.selectFrom('staff').where('email', '=', email).select('id').executeTakeFirst()) throw new StaffExists()
  return email
}

/** Makes a change that another administrator proposed, once. */
export async function confirmStaffChange (
  { db, console, mailer }: StaffDeps,
  operator: Operator,
  proposal: Proposal,
  requestId: string
) {
  const requested = proposal.payload as Requested
  const mails = await db.transaction().execute(async (trx) => {
    await lockStaff(trx)
    await confirmProposal(trx, operator, proposal)
    const mails = await carryOut(trx, console, proposal.proposedBy, requested)
    const entry = { operator, subject: proposal.subject, accountId: null, reason: null, requestId }
    await appendAudit(trx, { ...entry, action: `${nameOf(requested)}, CONFIRMED` })
    return mails
  })
  void mailer.enqueue(mails)
}

/** A change as the audit names it, such as `STAFF INVITE ADMIN`: the request alone names neither person nor role. */
const nameOf = (requested: StaffChange) =>
  ['STAFF', requested.change, ...('role' in requested ? [requested.role] : [])].join(' ')

/**
 * One more administrator, one less, and a new passkey for an operator who has one take two administrators. One alone
 * could otherwise become two, or remove those who would notice. An administrator without a passkey counts too: a lone
 * one could otherwise invite two, who then confirm for each other.
 */
async function takesTwo (trx: Trx, requested: StaffChange) {
  const admins = await trx.selectFrom('staff').where('role', '=', 'ADMIN').where('disabled_at', 'is', null).select('id')
    .limit(2).execute()
  if (admins.length < 2) return false
  if (requested.change === 'INVITE') return requested.role === 'ADMIN'
  if (requested.change === 'INVITE_AGAIN') return (await readInvitable(trx, requested.id)).hasPasskey
  const { role, isDisabled, hasPasskey } = await readStaff(trx, requested.id)
  if (requested.change === 'SET_ROLE' && requested.role === 'ADMIN') return true
  return role === 'ADMIN' && !isDisabled && hasPasskey
}

/** @returns the mails that it created */
async function carryOut (trx: Trx, console: Deps['console'], by: string, { language, ...change }: Requested) {
  switch (change.change) {
    case 'INVITE':
      return await mailInvitation(trx, console, await insertStaff(trx, change), { by, language })
    case 'INVITE_AGAIN':
      return await mailInvitation(trx, console, await readInvitable(trx, change.id), { by, language })
    case 'SET_ROLE':
      await setStaffRole(trx, change.id, change.role)
      return []
    case 'REMOVE':
      await setStaffRole(trx, change.id, null)
      return []
  }
}
