import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** What a second operator has to confirm: STAFF always, the others where FOUR_EYES names them. */
export type ProposalKind = 'BAN' | 'ERASE' | 'HOLD' | 'BROADCAST' | 'STAFF'

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

export interface ProposalTables {
  proposals: {
    id: Generated<string>,
    kind: ProposalKind,
    subject: string,
    account_id: string | null,
    reason: string,
    payload: ColumnType<unknown, string, never>,
    proposed_by: string,
    proposer_invited_by: Generated<string[]>,
    status: Generated<'OPEN' | 'CONFIRMED' | 'WITHDRAWN' | 'EXPIRED'>,
    decided_by: string | null,
    created_at: Generated<Date>,
    expires_at: Generated<Date>,
    decided_at: Date | null
  }
}

export interface PeopleTables {
  operator_reads: { staff_id: string, hour: Date, people: string[] }
}

export interface CallTables {
  operation_calls: {
    day: string,
    operation: string,
    platform: string,
    app_version: string,
    calls: number,
    errors: number
  }
}

/** The tables of this kit. */
export interface OperatorTables extends AuditTables, ProposalTables, PeopleTables, CallTables {}
