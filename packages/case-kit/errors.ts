import { defineError } from '@tandem/process-kit'
export const CaseNotFound = defineError('NOT_FOUND.case', 404)
export const CaseResolved = defineError('CASE_CHANGED.caseResolved', 409)
export const CaseClaimed = defineError('CASE_CLAIMED', 409)
export const CaseRestricted = defineError('CASE_RESTRICTED', 403)
