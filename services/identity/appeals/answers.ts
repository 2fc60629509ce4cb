import { sql } from 'kysely'
import { createMail, renderMail } from '@tandem/mail-kit'
import { appendAudit, hasRole, type Operator } from '@tandem/operator-kit'
import { Forbidden, ValidationError } from '@tandem/http-kit'
import { findContact } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { AppealNotFound, CaseRestricted } from '../errors.ts'
import { recordDecision, type Decision } from '../decisions/actions.ts'
import { findCase, toDecided } from '../decisions/cases.ts'
import { checkActions, checkRights } from '../decisions/decide.ts'
import type { DecisionWithoutCase } from '../decisions/schemas.ts'
import type { DecidedAction, Trx } from '../tables.ts'

interface Answer {
  outcome: 'UPHELD' | 'REVERSED'
  /** To the person who appealed. */
  statement: string
  /** What is decided instead, if a reporter was right. */
  decision?: DecisionWithoutCase | undefined
}

/**
 * Answers an appeal. A reversal is a decision of its own: it undoes the first one, or does what a reporter was right
 * about.
 * @throws AppealNotFound, ProofRequired, CaseRestricted, Unavailable; Forbidden for who decided, if there is another
 * one, and about oneself
 */
export async function answerAppeal (
  deps: Deps,
  operator: Operator,
  appealId: string,
  answer: Answer,
  requestId: string
) {
  await checkPictures(deps, operator, appealId)
  const mails = await deps.db.transaction().execute(async (trx) => {
    const { decision, ...appeal } = await lockAppeal(trx, appealId)
    if ([appeal.accountId, decision.accountId].includes(operator.accountId ?? '')) throw new Forbidden()
    const deciders = [decision.staffId, decision.confirmedBy]
    if (deciders.includes(operator.id) && await hasOtherModerator(trx, operator.id)) throw new Forbidden()
    const reversal = planReversal(deps, operator, { ...appeal, decision }, answer)
    // Of a dismissal that is reversed, the appeals of all reporters are answered.
    const answered = await trx.updateTable('appeals')
      .set({ status: answer.outcome, answer: answer.statement, staff_id: operator.id, decided_at: sql`now()` })
      .where('status', '=', 'OPEN')
      .where((row) =>
        row.or([
          row('id', '=', appealId),
          row.and([
            row('decision_id', '=', decision.id),
            row('report_id', 'is not', null),
            sql<boolean>`${appeal.isByReporter && answer.outcome === 'REVERSED'}`
          ])
        ])
      )
      .returning(['id', 'account_id as accountId']).execute()
    const mails = [reversal && (await recordDecision(trx, deps, reversal)).mail]
    // Who appealed a decision about themselves gets the reversal as a decision.
    if (!reversal || appeal.isByReporter) {
      for (const each of answered) mails.push(await createAnswerMail(trx, each, answer))
    }
    await appendAudit(trx, {
      operator,
      action: `APPEAL ${answer.outcome}`,
      subject: appealId,
      accountId: decision.accountId,
      reason: answer.statement,
      requestId
    })
    return mails
  })
  await deps.mailer.enqueue(mails)
}

/**
 * What moderators cannot see, they do not decide, nor again. The service of the case is asked before anything is
 * locked. @throws CaseRestricted, Unavailable
 */
async function checkPictures ({ db, callRpc }: Pick<Deps, 'db' | 'callRpc'>, operator: Operator, appealId: string) {
  if (hasRole(operator, 'restricted-files.read')) return
  const decision = await db.selectFrom('appeals').innerJoin('decisions', 'decisions.id', 'decision_id')
    .where('appeals.id', '=', appealId).select(['case_service as service', 'case_id as id']).executeTakeFirst()
  if (!decision?.service || !decision.id) return
  const found = await findCase({ callRpc }, { service: decision.service, id: decision.id })
  if (found?.hidesPictures) throw new CaseRestricted()
}

type Locked = Awaited<ReturnType<typeof lockAppeal>>

/** The decision that a reversal is; undefined if the first one stands. */
function planReversal (
  { fourEyes }: Pick<Deps, 'fourEyes'>,
  operator: Operator,
  { decision, isByReporter }: Locked,
  { outcome, statement, decision: instead }: Answer
): Decision | undefined {
  if ((instead !== undefined) !== (isByReporter && outcome === 'REVERSED')) {
    throw new ValidationError('decisionIsRequiredToReverseAppealOf', ['decision'])
  }
  if (outcome === 'UPHELD') return
  const decided = decision.caseService && decision.caseId
    ? {
      service: decision.caseService,
      id: decision.caseId,
      version: null,
      subjectType: decision.subjectType ?? '',
      excerpt: decision.excerpt
    }
    : null
  const { id, accountId } = decision
  const base = { accountId, case: decided, staffId: operator.id, reverses: id }
  if (!instead) {
    return { ...base, actions: undo(decision.actions), reason: decision.reason, statement, note: null }
  }
  checkRights(operator, instead.actions)
  checkActions({ ...instead, hasCase: decided !== null })
  if (instead.actions.some(({ type }) => ['DISMISS', 'LIFT', 'RESTORE_CONTENT'].includes(type))) {
    throw new ValidationError('decisionActionsMustActOnWhatWasReported', ['decision.actions'])
  }
  if (fourEyes.has('BAN') && instead.actions.some(({ type }) => type === 'BAN')) {
    throw new ValidationError('bANTakesTwoOperators')
  }
  return { ...base, ...instead, actions: instead.actions.map(toDecided), note: instead.note || null }
}

async function createAnswerMail (
  trx: Trx,
  { id, accountId }: { id: string, accountId: string },
  { outcome, statement }: Answer
) {
  const contact = await findContact(trx, accountId)
  return contact && await createMail(trx, {
    dedupeKey: `appeal:${id}`,
    recipient: contact.email,
    accountId,
    rateLimited: false,
    ...renderMail({
      kind: 'appealAnswered',
      locale: contact.locale,
      params: { isReversed: outcome === 'REVERSED', answer: statement }
    })
  })
}

async function lockAppeal (trx: Trx, id: string) {
  // Answers to the appeals of several reporters wait for each other.
  await sql`select from decisions where id = (select decision_id from appeals where id = ${id}) for update`.execute(trx)
  const row = await trx.selectFrom('appeals').innerJoin('decisions', 'decisions.id', 'decision_id')
    .where('appeals.id', '=', id).where('appeals.status', '=', 'OPEN')
    .select([
      'appeals.account_id as accountId',
      sql<boolean>`appeals.report_id is not null`.as('isByReporter'),
      'decisions.id as decisionId',
      'decisions.account_id as decidedAccountId',
      'decisions.staff_id as staffId',
      'decisions.confirmed_by as confirmedBy',
      'decisions.actions',
      'decisions.reason',
      'case_service as caseService',
      'case_id as caseId',
      'subject_type as subjectType',
      'excerpt'
    ]).forUpdate('appeals').executeTakeFirst()
  if (!row) throw new AppealNotFound()
  const { accountId, isByReporter, decisionId, decidedAccountId, ...decision } = row
  return { accountId, isByReporter, decision: { ...decision, id: decisionId, accountId: decidedAccountId } }
}

/** Who was invited and has no passkey yet cannot answer. */
async function hasOtherModerator (trx: Trx, staffId: string) {
  return await trx.selectFrom('staff').where('id', '<>', staffId).where('disabled_at', 'is', null)
    .where('role', 'in', ['MODERATOR', 'ADMIN'])
    .where('id', 'in', (passkeys) => passkeys.selectFrom('passkeys').select('staff_id'))
    .select('id').limit(1).executeTakeFirst() !== undefined
}

/** The actions that undo these. */
function undo (actions: DecidedAction[]): DecidedAction[] {
  const nothing = { scope: null, until: null, photoId: null }
  const undone = actions.flatMap(({ type, scope, photoId }): DecidedAction[] => {
    if (type === 'HIDE_CONTENT') return [{ ...nothing, type: 'RESTORE_CONTENT' }]
    if (type === 'REMOVE_PHOTO') return [{ ...nothing, type: 'RESTORE_CONTENT', photoId }]
    if (type === 'RESTRICT') return [{ ...nothing, type: 'LIFT', scope }]
    return type === 'BAN' ? [{ ...nothing, type: 'LIFT', scope: 'ALL' }] : []
  })
  return undone.length > 0 ? undone : [{ ...nothing, type: 'DISMISS' }]
}
