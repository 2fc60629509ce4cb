import { sql, type Kysely, type Transaction } from 'kysely'
import { Forbidden } from '@tandem/http-kit'
import { ConfigError, List } from '@tandem/process-kit'
import { NotIndependent, PasskeyTooNew, ProposalExists, ProposalNotFound } from './errors.ts'
import type { Operator } from './rights.ts'
import type { ProposalKind, ProposalTables } from './tables.ts'

const optionalKinds = ['BAN', 'ERASE', 'HOLD', 'BROADCAST'] as const satisfies ProposalKind[]
export const proposalKinds = [...optionalKinds, 'STAFF'] as const satisfies ProposalKind[]

/** The variable FOUR_EYES. */
export const FourEyes = List({
  description: 'What needs two operators, comma-separated: BAN, ERASE, HOLD, BROADCAST; by default nothing does'
})

/** @throws ConfigError */
export function readFourEyes (kinds: string[]): ReadonlySet<ProposalKind> {
  const unknown = kinds.filter((kind) => !optionalKinds.some((each) => each === kind))
  if (unknown.length > 0) throw new ConfigError(`FOUR_EYES must be a list of ${optionalKinds.join(', ')}`)
  return new Set(optionalKinds.filter((kind) => kinds.includes(kind)))
}

interface NewProposal {
  kind: ProposalKind
  /** There is at most one open proposal of a kind about a subject. */
  subject: string
  accountId: string | null
  reason: string
  /** What happens once it is confirmed. */
  payload: object
}

export interface Proposal {
  id: string
  kind: ProposalKind
  subject: string
  accountId: string | null
  reason: string
  payload: unknown
  proposedBy: string
  proposerInvitedBy: string[]
  createdAt: Date
  expiresAt: Date
}

/** Stores what another operator has to confirm within 72 hours. @throws ProposalExists */
export async function propose (
  trx: Transaction<ProposalTables>,
  operator: Pick<Operator, 'id' | 'invitedBy'>,
  { kind, subject, accountId, reason, payload }: NewProposal
) {
  await sql`
    update proposals set status = 'EXPIRED'
    where kind = ${kind} and subject = ${subject} and status = 'OPEN' and expires_at <= now()`.execute(trx)
  const { rows: [created] } = await sql<{ proposalId: string, expiresAt: Date }>`
    insert into proposals (kind, subject, account_id, reason, payload, proposed_by, proposer_invited_by)
    values (${kind}, ${subject}, ${accountId}, ${reason}, ${JSON.stringify(payload)}, ${operator.id},
      ${operator.invitedBy})
    on conflict do nothing returning id as "proposalId", expires_at as "expiresAt"`.execute(trx)
  if (!created) throw new ProposalExists()
  return created
}

const columns = sql`
  id, kind, subject, account_id as "accountId", reason, payload, proposed_by as "proposedBy",
  proposer_invited_by as "proposerInvitedBy", created_at as "createdAt", expires_at as "expiresAt"`

/** The proposals that wait for a second operator, the oldest first. */
export async function listProposals<Tables extends ProposalTables> (db: Kysely<Tables>) {
  const { rows } = await sql<Proposal>`
    select ${columns} from proposals where status = 'OPEN' and expires_at > now() order by id limit 200`.execute(db)
  return rows
}

/** An open proposal. @throws ProposalNotFound */
export async function readProposal<Tables extends ProposalTables> (db: Kysely<Tables>, id: string) {
  const { rows: [proposal] } = await sql<Proposal>`
    select ${columns} from proposals where id = ${id} and status = 'OPEN' and expires_at > now()`.execute(db)
  if (!proposal) throw new ProposalNotFound()
  return proposal
}

/**
 * Confirms a proposal, in the transaction that carries it out. Of several confirmations at once, one succeeds.
 * @throws Forbidden for the operator who proposed it, and about their own account; NotIndependent, PasskeyTooNew,
 * ProposalNotFound
 */
export async function confirmProposal (
  trx: Transaction<ProposalTables>,
  operator: Pick<Operator, 'id' | 'accountId' | 'invitedBy' | 'canConfirm'>,
  { id, proposedBy, proposerInvitedBy, accountId }: Proposal
) {
  if (proposedBy === operator.id || (accountId !== null && accountId === operator.accountId)) throw new Forbidden()
  // One person could be both: they invite a second self, and confirm with its new passkey.
  if (operator.invitedBy.includes(proposedBy) || proposerInvitedBy.includes(operator.id)) throw new NotIndependent()
  if (!operator.canConfirm) throw new PasskeyTooNew()
  await close(trx, operator, id, 'CONFIRMED')
}

/** Withdraws a proposal, also somebody else's. @throws ProposalNotFound */
export const withdrawProposal = async <Tables extends ProposalTables>(
  trx: Transaction<Tables>,
  operator: Pick<Operator, 'id'>,
  { id }: Proposal
) => await close(trx, operator, id, 'WITHDRAWN')

async function close<Tables extends ProposalTables> (
  trx: Transaction<Tables>,
  operator: Pick<Operator, 'id'>,
  id: string,
  status: 'CONFIRMED' | 'WITHDRAWN'
) {
  const { rows } = await sql`
    update proposals set status = ${status}, decided_by = ${operator.id}, decided_at = now()
    where id = ${id} and status = 'OPEN' and expires_at > now() returning id`.execute(trx)
  if (rows.length === 0) throw new ProposalNotFound()
}
