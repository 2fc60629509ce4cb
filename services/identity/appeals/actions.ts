import { sql } from 'kysely'
import { appendAudit, type Operator } from '@tandem/operator-kit'
import { Forbidden } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { AppealClosed, AppealExists, AppealNotFound, DecisionNotFound } from '../errors.ts'
import { recordDecision } from '../standing/actions.ts'
import { APPEAL_DAYS } from '../standing/queries.ts'
import type { Db, DecidedAction, Trx } from '../tables.ts'

interface NewAppeal {
  decisionId: string
  text: string
  /** Undefined with the token of the mail. */
  accountId?: string | undefined
}

/** Appeals against a decision, once within 180 days. @throws DecisionNotFound, AppealClosed, AppealExists */
export async function appeal (db: Db, { decisionId, text, accountId }: NewAppeal) {
  return await db.transaction().execute(async (trx) => {
    const decision = await trx.selectFrom('decisions').where('id', '=', decisionId)
      .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!))
      .where('outcome', '=', 'ACTION_TAKEN')
      .select([
        'id',
        'account_id as accountId',
        sql<boolean>`made_at < now() - make_interval(days => ${APPEAL_DAYS})`.as('isClosed')
      ]).executeTakeFirst()
    if (!decision) throw new DecisionNotFound()
    if (decision.isClosed) throw new AppealClosed()
    const created = await trx.insertInto('appeals')
      .values({ decision_id: decision.id, account_id: decision.accountId, text })
      .onConflict((conflict) => conflict.doNothing())
      .returning([
        'id',
        'decision_id as decisionId',
        'text',
        'status',
        'answer',
        'created_at as createdAt',
        'decided_at as decidedAt'
      ])
      .executeTakeFirst()
    if (!created) throw new AppealExists()
    return created
  })
}

interface Answer {
  outcome: 'UPHELD' | 'REVERSED'
  statement: string
}

/**
 * Answers an appeal. A reversal is a decision of its own, which undoes the first one.
 * @throws AppealNotFound, Forbidden for the operator who decided, if there is another one
 */
export async function answerAppeal (
  deps: Deps,
  operator: Operator,
  appealId: string,
  { outcome, statement }: Answer,
  requestId: string
) {
  const { db, mailer } = deps
  const mail = await db.transaction().execute(async (trx) => {
    const { decision, ...appeal } = await lockAppeal(trx, appealId)
    if (operator.accountId === appeal.accountId) throw new Forbidden()
    const deciders = [decision.staffId, decision.confirmedBy]
    if (deciders.includes(operator.id) && await hasOtherModerator(trx, operator.id)) throw new Forbidden()
    await trx.updateTable('appeals')
      .set({ status: outcome, answer: statement, staff_id: operator.id, decided_at: sql`now()` })
      .where('id', '=', appealId).execute()
    await appendAudit(trx, {
      operator,
      action: `APPEAL ${outcome}`,
      subject: appealId,
      accountId: appeal.accountId,
      reason: statement,
      requestId
    })
    if (outcome === 'UPHELD') return
    await trx.updateTable('strikes').set({ removed_at: sql`now()` }).where('decision_id', '=', decision.id).execute()
    const { mail } = await recordDecision(trx, deps, {
      accountId: appeal.accountId,
      case: decision.caseService && decision.caseId
        ? {
          service: decision.caseService,
          id: decision.caseId,
          version: null,
          subjectType: decision.subjectType ?? '',
          excerpt: decision.excerpt
        }
        : null,
      actions: undo(decision.actions),
      reason: decision.reason,
      statement,
      note: null,
      staffId: operator.id,
      reverses: decision.id
    })
    return mail
  })
  await mailer.enqueue([mail])
}

async function lockAppeal (trx: Trx, id: string) {
  const row = await trx.selectFrom('appeals').innerJoin('decisions', 'decisions.id', 'decision_id')
    .where('appeals.id', '=', id).where('appeals.status', '=', 'OPEN')
    .select([
      'appeals.account_id as accountId',
      'decisions.id as decisionId',
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
  const { accountId, decisionId, ...decision } = row
  return { accountId, decision: { ...decision, id: decisionId } }
}

async function hasOtherModerator (trx: Trx, staffId: string) {
  return await trx.selectFrom('staff').where('id', '<>', staffId).where('disabled_at', 'is', null)
    .where('role', 'in', ['MODERATOR', 'ADMIN']).select('id').limit(1).executeTakeFirst() !== undefined
}

/** The actions that undo these. A deleted photo stays deleted; its owner can upload it again. */
function undo (actions: DecidedAction[]): DecidedAction[] {
  const nothing = { scope: null, until: null, photoId: null }
  const undone = actions.flatMap(({ type, scope }): DecidedAction[] => {
    if (type === 'HIDE_CONTENT') return [{ ...nothing, type: 'RESTORE_CONTENT' }]
    if (type === 'RESTRICT') return [{ ...nothing, type: 'LIFT', scope }]
    return type === 'BAN' ? [{ ...nothing, type: 'LIFT', scope: 'ALL' }] : []
  })
  return undone.length > 0 ? undone : [{ ...nothing, type: 'DISMISS' }]
}

/** The open appeals, those due first on top. */
export const listAppeals = async (db: Db) =>
  await db.selectFrom('appeals').innerJoin('decisions', 'decisions.id', 'decision_id')
    .where('appeals.status', '=', 'OPEN')
    .select([
      'appeals.id',
      'appeals.decision_id as decisionId',
      'appeals.account_id as accountId',
      'appeals.text',
      'appeals.due_at as dueAt',
      'appeals.created_at as createdAt',
      'decisions.actions',
      'decisions.reason',
      'decisions.statement',
      'decisions.excerpt',
      'decisions.staff_id as decidedBy'
    ])
    .orderBy('due_at').limit(100).execute()
