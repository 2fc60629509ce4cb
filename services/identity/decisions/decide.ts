import { appendAudit, requireRight, type Operator } from '@tandem/operator-kit'
import { Forbidden, ValidationError } from '@tandem/http-kit'
import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import { recordDecision } from './actions.ts'
import { proposeBan } from './bans.ts'
import { readCase, toDecided } from './cases.ts'
import type { NewAction, NewDecision } from './schemas.ts'

const LONG_RESTRICTION_DAYS = 30

/**
 * Makes an operator's decision, or proposes it if it needs two operators. What it is about is read from the service that
 * owns the case, never from the request.
 * @throws Forbidden, ProofRequired, CaseNotFound, CaseRestricted, CaseChanged, UserNotFound, ProposalExists, Unavailable
 */
export async function decide (deps: Deps, operator: Operator, decision: NewDecision, requestId: string) {
  const { accountId, reason, statement, note = null } = decision
  if (operator.accountId === accountId) throw new Forbidden()
  checkRights(operator, decision.actions)
  checkActions({ ...decision, hasCase: decision.case !== null })
  if (deps.fourEyes.has('BAN') && decision.actions.some(({ type }) => type === 'BAN')) {
    return await proposeBan(deps, operator, decision, requestId)
  }
  const decided = await readCase(deps, operator, decision)
  const { db, mailer } = deps
  const { id, mail } = await db.transaction().execute(async (trx) => {
    await checkUnban(trx, operator, decision)
    const recorded = await recordDecision(trx, deps, {
      accountId,
      case: decided,
      replaces: decided ? await findReplaced(trx, decided.id, decision.actions) : undefined,
      actions: decision.actions.map(toDecided),
      reason,
      statement,
      note: note || null,
      staffId: operator.id
    })
    const summary = `DECISION ${
      recorded.actions.map(({ type, scope }) => scope ? `${type} ${scope}` : type).join(', ')
    }`
    await appendAudit(trx, { operator, action: summary, subject: recorded.id, accountId, reason, requestId })
    return recorded
  })
  await mailer.enqueue([mail])
  return { id }
}

/** Who can ban nobody ends no ban, but for the appeal of the person. @throws Forbidden, ProofRequired */
async function checkUnban (trx: Trx, operator: Operator, { accountId, actions }: NewDecision) {
  if (!actions.some(({ type, scope }) => type === 'LIFT' && scope === 'ALL')) return
  const account = await lockAccount(trx, { id: accountId })
  if (account?.isBanned) requireRight(operator, 'bans.make')
}

/**
 * The suspension without an operator that a decision about the same case replaces, unless it restricts more than
 * FitMatch.
 */
async function findReplaced (trx: Trx, caseId: string, actions: NewAction[]) {
  if (actions.some(({ type, scope }) => type === 'BAN' || (type === 'RESTRICT' && scope !== 'FITMATCH'))) return
  const automated = await trx.selectFrom('restrictions').innerJoin('decisions', 'decisions.id', 'decision_id')
    .where('case_id', '=', caseId).where('is_automated', '=', true).where('lifted_at', 'is', null)
    .select('decisions.id').executeTakeFirst()
  return automated?.id
}

/** @throws Forbidden, ProofRequired */
export function checkRights (operator: Operator, actions: NewAction[]) {
  for (const { type, days = 0 } of actions) {
    if (type === 'BAN') requireRight(operator, 'bans.make')
    if (type === 'RESTRICT' && days > LONG_RESTRICTION_DAYS) requireRight(operator, 'restrictions.long')
  }
}

/** @throws ValidationError */
export function checkActions (
  { hasCase, actions, statement }: Pick<NewDecision, 'actions' | 'statement'> & { hasCase: boolean }
) {
  const types = actions.map(({ type }) => type)
  if (new Set(types).size < types.length) {
    throw new ValidationError('actionsMustNotRepeatType', ['actions'])
  }
  if (types.includes('DISMISS') && types.length > 1) {
    throw new ValidationError('actionsMustBeOnlyDISMISS', ['actions'])
  }
  const needsCase = ({ type, photoId }: NewAction) =>
    ['DISMISS', 'HIDE_CONTENT', 'REMOVE_PHOTO'].includes(type) || (type === 'RESTORE_CONTENT' && !photoId)
  if (!hasCase && actions.some(needsCase)) {
    throw new ValidationError('caseIsRequired', ['case'])
  }
  if (statement === '' && !types.includes('DISMISS')) {
    throw new ValidationError('statementIsRequired', ['statement'])
  }
  for (const { type, scope, days, photoId } of actions) {
    if (type === 'RESTRICT' && (!scope || !days)) {
      throw new ValidationError('actionsMustSayScopeAndDaysOfRESTRICT', ['actions'])
    }
    if (type === 'LIFT' && !scope) {
      throw new ValidationError('actionsMustSayScopeOfLIFT', ['actions'])
    }
    if (type === 'REMOVE_PHOTO' && !photoId) {
      throw new ValidationError('actionsMustSayPhotoIdOfREMOVEPHOTO', ['actions'])
    }
  }
}
