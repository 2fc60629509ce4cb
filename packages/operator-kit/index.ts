export { appendAudit, findAuditFault, type AuditHead } from './audit.ts'
export { forOperators, OPERATOR_TOKEN, withoutToken } from './authentication.ts'
export * from './errors.ts'
export { auditTables } from './personal-data.ts'
export {
  hasRole,
  PROOF_LIFETIME_MS,
  requireRight,
  staffRoles,
  type Operator,
  type Right,
  type StaffRole
} from './rights.ts'
export { serveOperators, startAudit } from './serve.ts'
export type { AuditTables } from './tables.ts'
