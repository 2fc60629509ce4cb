import { appendAudit, requireRight, type Operator } from '@tandem/operator-kit'
import { FitMatchCase, SocialCase } from '@tandem/contracts'
import { Forbidden, ValidationError } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { CaseChanged, CaseNotFound } from '../errors.ts'
import type { DecidedAction } from '../tables.ts'
import { recordDecision, type DecidedCase } from './actions.ts'
import type { NewAction, NewDecision } from './schemas.ts'

const DAY_MS = 86_400_000
const LONG_RESTRICTION_DAYS = 30

/**
 * Makes an operator's decision. What it is about is read from the service that owns the case, never from the request.
 * @throws Forbidden, ProofRequired, CaseNotFound, CaseChanged, UserNotFound, Unavailable
 */
export async function decide (deps: Deps, operator: Operator, decision: NewDecision, requestId: string) {
  const { accountId, reason, statement, note = null } = decision
  if (operator.accountId === accountId) throw new Forbidden()
  for (const action of decision.actions) checkRight(operator, action)
  checkActions(decision)
  const decided = await readCase(deps, decision)
  const actions = decision.actions.map(toDecided)
  const { db, mailer } = deps
  const { id, mail } = await db.transaction().execute(async (trx) => {
    const recorded = await recordDecision(trx, deps, {
      accountId,
      case: decided,
      actions,
      reason,
      statement,
      note: note || null,
      staffId: operator.id
    })
    const summary = `DECISION ${actions.map(({ type, scope }) => scope ? `${type} ${scope}` : type).join(', ')}`
    await appendAudit(trx, { operator, action: summary, subject: recorded.id, accountId, reason, requestId })
    return recorded
  })
  await mailer.enqueue([mail])
  return id
}

function checkRight (operator: Operator, { type, days = 0 }: NewAction) {
  if (type === 'BAN') requireRight(operator, 'bans.make')
  if (type === 'RESTRICT' && days > LONG_RESTRICTION_DAYS) requireRight(operator, 'restrictions.long')
}

/** @throws ValidationError */
function checkActions ({ case: decided, actions, statement }: NewDecision) {
  const types = actions.map(({ type }) => type)
  if (new Set(types).size < types.length) throw new ValidationError('actions must not repeat a type')
  if (types.includes('DISMISS') && types.length > 1) {
    throw new ValidationError('actions must be only DISMISS, or others')
  }
  const needsCase = ['DISMISS', 'HIDE_CONTENT', 'RESTORE_CONTENT', 'REMOVE_PHOTO']
  if (!decided && types.some((type) => needsCase.includes(type))) throw new ValidationError('case is required')
  if (statement === '' && !types.includes('DISMISS')) throw new ValidationError('statement is required')
  for (const { type, scope, days, photoId } of actions) {
    if (type === 'RESTRICT' && (!scope || !days)) {
      throw new ValidationError('actions must say scope and days of RESTRICT')
    }
    if (type === 'LIFT' && !scope) throw new ValidationError('actions must say the scope of LIFT')
    if (type === 'REMOVE_PHOTO' && !photoId) throw new ValidationError('actions must say the photoId of REMOVE_PHOTO')
  }
}

async function readCase ({ callRpc }: Deps, { case: wanted, accountId }: NewDecision): Promise<DecidedCase | null> {
  if (!wanted) return null
  const found = await callRpc(wanted.service === 'social' ? SocialCase : FitMatchCase, { caseId: wanted.id })
  if (!found) throw new CaseNotFound()
  if (!found.isOpen || found.version !== wanted.version) throw new CaseChanged()
  if (found.accountId !== accountId) throw new ValidationError('accountId must be the one of the case')
  const { service, id, version } = wanted
  return { service, id, version, subjectType: found.targetType, excerpt: found.excerpt }
}

const toDecided = ({ type, scope, days, photoId }: NewAction): DecidedAction => ({
  type,
  scope: type === 'RESTRICT' || type === 'LIFT' ? scope ?? null : null,
  until: type === 'RESTRICT' && days ? new Date(Date.now() + days * DAY_MS).toISOString() : null,
  photoId: type === 'REMOVE_PHOTO' ? photoId ?? null : null
})
