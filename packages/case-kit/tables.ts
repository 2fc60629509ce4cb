import type { ColumnType, Generated } from 'kysely'

export type Outcome = 'ACTION_TAKEN' | 'NO_VIOLATION'
/** 3 is the most urgent. */
export type Priority = 1 | 2 | 3

export interface CaseTables {
  cases: {
    id: Generated<string>,
    target_type: string,
    target_id: string,
    account_id: string,
    priority: Priority,
    due_at: Date,
    version: Generated<number>,
    reports_count: Generated<number>,
    evidence_digest: Buffer,
    is_restricted: boolean,
    is_held: Generated<boolean>,
    claimed_by: string | null,
    claimed_until: Date | null,
    outcome: Outcome | null,
    decision_id: string | null,
    decision_sequence: Generated<number>,
    created_at: Generated<Date>,
    resolved_at: Date | null,
    purged_at: Date | null
  }
  case_evidence: {
    id: Generated<string>,
    case_id: string,
    digest: Buffer,
    content: ColumnType<object, string, never>,
    others: Generated<string[]>,
    created_at: Generated<Date>
  }
  case_files: {
    case_id: string,
    number: number,
    source: string,
    owner_id: string,
    copy: string,
    sha256: Buffer | null,
    copied_at: Date | null,
    created_at: Generated<Date>
  }
}
