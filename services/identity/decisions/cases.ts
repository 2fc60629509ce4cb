import { FitMatchCase, SocialCase } from '@tandem/contracts'
import { ValidationError } from '@tandem/http-kit'
import { hasRole, type Operator } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { CaseChanged, CaseNotFound, CaseRestricted } from '../errors.ts'
import type { DecidedAction } from '../tables.ts'
import type { DecidedCase } from './actions.ts'
import type { NewAction, NewDecision } from './schemas.ts'

/** A case, as the service that owns it describes it; undefined if there is none any more. @throws Unavailable */
export async function findCase (
  { callRpc }: Pick<Deps, 'callRpc'>,
  { service, id }: { service: 'social' | 'fitmatch', id: string }
) {
  return await callRpc(service === 'social' ? SocialCase : FitMatchCase, { caseId: id }) ?? undefined
}

/**
 * Reads what a decision is about from the service that owns the case, never from the request.
 * @throws CaseNotFound, CaseRestricted, CaseChanged, ValidationError, Unavailable
 */
export async function readCase (
  { callRpc }: Pick<Deps, 'callRpc'>,
  operator: Operator,
  { case: wanted, accountId }: NewDecision
): Promise<DecidedCase | null> {
  if (!wanted) return null
  const found = await findCase({ callRpc }, wanted)
  if (!found) throw new CaseNotFound()
  if (found.hidesPictures && !hasRole(operator, 'restricted-files.read')) throw new CaseRestricted()
  if (!found.isOpen || found.version !== wanted.version) throw new CaseChanged()
  if (found.accountId !== accountId) {
    throw new ValidationError('accountIdMustBeOneOfCase', ['accountId'])
  }
  const { service, id, version } = wanted
  return { service, id, version, subjectType: found.targetType, excerpt: found.excerpt }
}

const DAY_MS = 86_400_000

/** An action as it is stored and published: with its end instead of its length. */
export const toDecided = ({ type, scope, days, photoId }: NewAction): DecidedAction => ({
  type,
  scope: type === 'RESTRICT' || type === 'LIFT' ? scope ?? null : null,
  until: type === 'RESTRICT' && days ? new Date(Date.now() + days * DAY_MS).toISOString() : null,
  photoId: type === 'REMOVE_PHOTO' || type === 'RESTORE_CONTENT' ? photoId ?? null : null
})
