import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { DecisionMade, type Outcome } from '@tandem/contracts'
import { createMail } from '@tandem/mail-kit'
import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { CaseChanged, UserNotFound } from '../errors.ts'
import { setHidden } from '../hidden.ts'
import { createAppealUrl } from './appeal-tokens.ts'
import { renderDecisionMail } from './decision-mail.ts'
import { APPEAL_DAYS } from './queries.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import type { DecidedAction, DecisionReason, RestrictionScope, Trx } from '../tables.ts'

export interface DecidedCase {
  service: 'social' | 'fitmatch'
  id: string
  /** Null for a decision that is not the one about the case, such as a reversal. */
  version: number | null
  subjectType: string
  excerpt: string | null
}

export interface Decision {
  accountId: string
  case: DecidedCase | null
  actions: DecidedAction[]
  reason: DecisionReason
  statement: string
  note: string | null
  /** Null for an automated decision. */
  staffId: string | null
  /** The second operator, where it takes two. */
  confirmedBy?: string
  /** The decision that this one undoes: its restrictions, ban and strike end; those of others stay. */
  reverses?: string | null
  /** The suspension without an operator that this decision replaces. It ends in the same way. */
  replaces?: string | undefined
  /** Default: now. */
  madeAt?: Date
  /** Whether it holds only until another operator confirms or withdraws a ban; it is no strike then. */
  isInterim?: boolean
}

const harmless = ['DISMISS', 'LIFT', 'RESTORE_CONTENT']

/**
 * Makes a decision: everything that follows from it is in the caller's transaction or in its event.
 * @throws UserNotFound, CaseChanged if this version of the case is decided already
 * @returns the decision, and the mail to enqueue
 */
export async function recordDecision (
  trx: Trx,
  { secrets, publicUrl }: Pick<Deps, 'secrets' | 'publicUrl'>,
  decision: Decision
) {
  const { accountId, case: decided, replaces } = decision
  const actions = replaces === undefined ? decision.actions : withLift(decision.actions)
  const undone = decision.reverses ?? replaces
  // Decisions about one account are made, and published, one after the other.
  const account = await lockAccount(trx, { id: accountId })
  if (!account) throw new UserNotFound()
  const outcome = actions.every(({ type }) => harmless.includes(type)) ? 'NO_VIOLATION' : 'ACTION_TAKEN'
  const { id, madeAt } = await insertDecision(trx, { ...decision, actions }, outcome)
  if (undone !== undefined) await undoDecision(trx, accountId, undone)
  for (const action of decision.actions) await applyAction(trx, { ...decision, decisionId: id }, action)
  if (outcome === 'ACTION_TAKEN' && !decision.isInterim) {
    await trx.insertInto('strikes').values({ decision_id: id, account_id: accountId }).execute()
  }
  await publish(trx, DecisionMade, accountId, {
    decisionId: id,
    accountId,
    case: decided && { service: decided.service, id: decided.id },
    actions,
    restrictions: await listRestrictions(trx, accountId),
    outcome,
    automated: decision.staffId === null,
    madeAt: madeAt.toISOString()
  })
  // People who were only reported learn nothing of it.
  const isMailed = decision.reverses || actions.some(({ type }) => type !== 'DISMISS')
  const mail = !isMailed ? undefined : await createMail(trx, {
    dedupeKey: `decision:${id}`,
    recipient: account.email,
    accountId,
    rateLimited: false,
    // As long as its link.
    lifetime: `${APPEAL_DAYS} days`,
    ...renderDecisionMail({
      locale: account.locale,
      actions,
      reason: decision.reason,
      statement: decision.statement,
      excerpt: decided?.excerpt ?? null,
      isAutomated: decision.staffId === null,
      url: createAppealUrl(secrets, publicUrl, id)
    })
  })
  return { id, actions, mail }
}

/** The actions, and the end of the suspension in FitMatch unless they restrict or lift it themselves. */
function withLift (actions: DecidedAction[]): DecidedAction[] {
  if (actions.some(({ scope }) => scope === 'FITMATCH' || scope === 'ALL')) return actions
  const lift: DecidedAction = { type: 'LIFT', scope: 'FITMATCH', until: null, photoId: null }
  return [...actions.filter(({ type }) => type !== 'DISMISS'), lift]
}

async function insertDecision (trx: Trx, decision: Decision, outcome: Outcome) {
  const { accountId, case: decided, actions, reason, statement, note, staffId, reverses = null, confirmedBy = null } =
    decision
  const inserted = await trx.insertInto('decisions').values({
    account_id: accountId,
    case_service: decided?.service ?? null,
    case_id: decided?.id ?? null,
    case_version: decided?.version ?? null,
    subject_type: decided?.subjectType ?? null,
    excerpt: decided?.excerpt ?? null,
    actions: JSON.stringify(actions),
    outcome,
    reason,
    statement,
    note,
    is_automated: staffId === null,
    staff_id: staffId,
    confirmed_by: confirmedBy,
    reverses,
    ...(decision.madeAt && { made_at: decision.madeAt })
  }).onConflict((conflict) => conflict.doNothing()).returning(['id', 'made_at as madeAt']).executeTakeFirst()
  if (!inserted) throw new CaseChanged()
  return inserted
}

/** What an action changes in this service. The others change what is theirs when the event arrives. */
async function applyAction (
  trx: Trx,
  { accountId, decisionId, reverses }: Pick<Decision, 'accountId' | 'reverses'> & { decisionId: string },
  { type, scope, until }: DecidedAction
) {
  if (type === 'RESTRICT' && scope !== null) {
    await trx.insertInto('restrictions')
      .values({ account_id: accountId, scope, until: until === null ? null : new Date(until), decision_id: decisionId })
      .execute()
    if (scope !== 'ALL') return
    await setHidden(trx, accountId, { restricted_until: lastRestriction(accountId) })
    await endSessions(trx, { accountId })
  }
  if (type === 'BAN') {
    await setHidden(trx, accountId, { banned_at: sql`coalesce(banned_at, now())` })
    await endSessions(trx, { accountId })
    await logSecurityEvent(trx, { kind: 'ACCOUNT_BANNED', accountId, detail: { decisionId } })
  }
  // A reversal lifts nothing but what its decision restricted.
  if (type === 'LIFT' && !reverses) {
    await trx.updateTable('restrictions').set({ lifted_at: sql`now()` }).where('account_id', '=', accountId)
      .where('lifted_at', 'is', null).$if(scope !== 'ALL', (rows) => rows.where('scope', '=', scope)).execute()
    if (scope !== 'ALL') return
    await setHidden(trx, accountId, { restricted_until: null, banned_at: null })
    await logSecurityEvent(trx, { kind: 'ACCOUNT_UNBANNED', accountId, detail: { decisionId } })
  }
}

/** Ends what one decision restricted. The caller holds the lock of the account. */
export async function endRestrictionsOf (trx: Trx, accountId: string, decisionId: string) {
  const ended = await trx.updateTable('restrictions').set({ lifted_at: sql`now()` })
    .where('decision_id', '=', decisionId).where('lifted_at', 'is', null).returning('scope').execute()
  if (ended.some(({ scope }) => scope === 'ALL')) {
    await setHidden(trx, accountId, { restricted_until: lastRestriction(accountId) })
  }
}

async function undoDecision (trx: Trx, accountId: string, decisionId: string) {
  await trx.updateTable('strikes').set({ removed_at: sql`now()` }).where('decision_id', '=', decisionId).execute()
  await endRestrictionsOf(trx, accountId, decisionId)
  // Bans from before the account was unbanned, in the console or in the shell, are over.
  const { rows } = await sql`
    select from decisions undone join accounts on accounts.id = account_id
    where undone.id = ${decisionId} and undone.actions @> '[{"type": "BAN"}]' and undone.made_at >= banned_at
      and not exists (
        select from decisions ban where ban.account_id = ${accountId} and ban.id <> ${decisionId}
          and ban.actions @> '[{"type": "BAN"}]' and ban.made_at >= banned_at
          and not exists (select from decisions where reverses = ban.id))`.execute(trx)
  if (rows.length === 0) return
  await setHidden(trx, accountId, { banned_at: null })
  await logSecurityEvent(trx, { kind: 'ACCOUNT_UNBANNED', accountId, detail: { decisionId } })
}

/** When the last restriction of everything ends. */
const lastRestriction = (accountId: string) =>
  sql<Date | null>`(select max(until) from restrictions
  where account_id = ${accountId} and scope = 'ALL' and lifted_at is null and until > now())`

/** The restrictions that hold now, one for each scope. */
async function listRestrictions (trx: Trx, accountId: string) {
  const { rows } = await sql<{ scope: RestrictionScope, until: Date | null }>`
    select scope, case when bool_or(until is null) then null else max(until) end as until from restrictions
    where account_id = ${accountId} and lifted_at is null and (until is null or until > now())
    group by scope order by scope`.execute(trx)
  return rows.map(({ scope, until }) => ({ scope, until: until?.toISOString() ?? null }))
}
