import { sql, type RawBuilder, type SqlBool, type Transaction } from 'kysely'

/** A table with personal data: which of its rows belong to an account, and what happens to them. */
export interface Personal<Tables = unknown> {
  isPersonal: true
  /** Whether a row of the table belongs to the account. Once they are erased, no row does, except kept ones. */
  rowsOf: ((accountId: string) => RawBuilder<SqlBool>) & { columns?: readonly string[] }
  /**
   * Erases at most `limit` rows in the caller's transaction, together with what depends on them, such as the counters of
   * others. Without it, rows are just deleted. @returns how many
   */
  erase?: (trx: Transaction<Tables>, accountId: string, limit: number) => Promise<number>
  /** Runs in the same transaction before rows are erased, such as to lock what decides whether rows stay. */
  before?: (trx: Transaction<Tables>, accountId: string) => Promise<unknown>
  /** The storage keys of a row's files: an expression of type text[] over a row. */
  files?: RawBuilder<string[]>
  /** Which rows stay after the erasure, why, and until when. */
  keeps?: { rows: (accountId: string) => RawBuilder<SqlBool>, why: string, until: string }
  /** The columns that belong in a person's copy of their data; or why the table is left out. */
  exported: readonly string[] | Exported | { not: string }
}

/** What belongs in a person's copy of a table, where it is not all of their rows as they are. */
export interface Exported {
  columns: readonly string[]
  /** The rows of the copy, by default those of `rowsOf`. What other people did stays out. */
  rows?: (accountId: string) => RawBuilder<SqlBool>
  /** Values of the copy that differ from the table's: by column, an expression over a row. */
  values?: (accountId: string) => Record<string, RawBuilder<unknown>>
  /** The storage keys of a row's files in the copy, by default `files`. */
  files?: (accountId: string) => RawBuilder<string[]>
}

/** A table without personal data, and why. */
export interface NotPersonal {
  isPersonal: false
  why: string
}

/**
 * What a service holds of people: an entry for each table. Erasure goes through the tables in this order, so a table
 * comes before those that it refers to. Erasure, export and verification know no other list.
 */
export type PersonalData<Tables> = { [Name in keyof Tables & string]: Personal<Tables> | NotPersonal }

export const personal = <Tables>(entry: Omit<Personal<Tables>, 'isPersonal'>): Personal<Tables> => ({
  isPersonal: true,
  ...entry
})
export const notPersonal = (why: string): NotPersonal => ({ isPersonal: false, why })

/** The rows with the account in one of these columns. */
export const inColumns = (...columns: string[]) =>
  Object.assign(
    (accountId: string) =>
      sql<SqlBool>`(${sql.join(columns.map((column) => sql`${sql.ref(column)} = ${accountId}::uuid`), sql` or `)})`,
    { columns }
  )

/** The rows of `first`, and those that `second` finds, such as the likes of a person and those of their posts. */
export const either = (
  first: ReturnType<typeof inColumns>,
  second: (accountId: string) => RawBuilder<SqlBool>
): ReturnType<typeof inColumns> =>
  Object.assign((accountId: string) => sql<SqlBool>`(${first(accountId)} or ${second(accountId)})`, {
    columns: first.columns
  })

/** A table whose rows are just deleted. */
const deleted = (entry: Omit<Personal, 'isPersonal' | 'erase' | 'before'>) => ({ isPersonal: true as const, ...entry })

/** The tables of the kits that every service has. */
export const kitTables = {
  outbox: notPersonal(
    'Published events are deleted after 72 hours, rejected ones after 30 days, and the others are still to be published.'
  ),
  processed_events: notPersonal('It holds ids of events only.'),
  failed_messages: deleted({
    rowsOf: (accountId) => sql<SqlBool>`position(${accountId}::text in message) > 0`,
    exported: { not: 'They are copies of events on their way between services.' }
  }),
  departures: notPersonal('The tombstones of erased accounts hold an id and counts.'),
  files_to_erase: notPersonal('It holds keys of files that are being erased.'),
  hidden_people: deleted({
    rowsOf: inColumns('account_id'),
    exported: { not: 'It follows from the state of the account.' }
  })
}

/** The tables of database-kit. */
export const databaseTables = {
  idempotency_keys: deleted({
    // A response can name other people too, such as those that an activity invites.
    rowsOf: either(
      inColumns('account_id'),
      (accountId) => sql<SqlBool>`(response is not null and ids_in(response) @> array[${accountId}::uuid])`
    ),
    exported: { not: 'They are copies of responses, kept for 24 hours.' }
  }),
  daily_quotas: deleted({
    rowsOf: inColumns('account_id'),
    exported: { not: 'They count towards limits, for a few days.' }
  })
}

/** The table of mail-kit. */
export const mailTables = {
  mails: deleted({
    rowsOf: inColumns('account_id'),
    exported: { not: 'Mails are in the mailbox of the person; here they are blanked once they are sent.' }
  })
}
