import type { ColumnType, Generated } from 'kysely'

type Counts = Record<string, number>

export interface ErasureTables {
  departures: {
    account_id: string,
    erasure_id: string,
    rows: ColumnType<Counts, never, string>,
    files: Generated<number>,
    kept: Generated<number>,
    passes: Generated<number>,
    found: Generated<number>,
    next_pass_at: Generated<Date | null>,
    created_at: Generated<Date>,
    erased_at: Generated<Date | null>
  }
  files_to_erase: { account_id: string, key: string, removed_at: Date | null }
  hidden_people: { account_id: string, is_hidden: boolean, changed_at: Date }
}
