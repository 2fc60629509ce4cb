import type { Generated, GeneratedAlways } from 'kysely'

export interface AuditTables {
  audit_entries: {
    number: GeneratedAlways<number>,
    staff_id: string,
    role: string,
    action: string,
    subject: string | null,
    account_id: string | null,
    reason: string | null,
    request_id: string,
    created_at: Generated<Date>,
    previous_hash: GeneratedAlways<Buffer>,
    hash: GeneratedAlways<Buffer>
  }
  audit_head: { is_only: Generated<boolean>, number: number, hash: Buffer }
}
