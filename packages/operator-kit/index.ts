export { AdminRoutesInApp, auditAppAdmins } from './app-admins.ts'
export { appendAudit, findAuditFault, type AuditHead } from './audit.ts'
export { forOperators, OPERATOR_TOKEN, withoutToken } from './authentication.ts'
export * from './errors.ts'
export { countPerson } from './people.ts'
export { operatorTables } from './personal-data.ts'
export {
  hasRole,
  PROOF_LIFETIME_MS,
  requireRight,
  rightsOf,
  staffRoles,
  type Operator,
  type Right,
  type StaffRole
} from './rights.ts'
export { serveOperators, startAudit } from './serve.ts'
export { auditShell, runShell, UsageError } from './shell.ts'
export type { AuditTables, OperatorTables, ProposalKind } from './tables.ts'
export { confirmProposal, FourEyes, propose, readFourEyes, readProposal, type Proposal } from './proposals.ts'
export { Proposed, serveProposals, type ProposalHandler } from './proposal-routes.ts'
