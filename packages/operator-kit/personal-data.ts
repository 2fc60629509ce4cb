import { inColumns, notPersonal } from '@tandem/account-kit'

/** The tables of this kit, for `personal-data.ts` of a service. */
export const operatorTables = {
  audit_entries: notPersonal(
    'It names accounts by their ids only, and nobody may change it; months are dropped after 24.'
  ),
  audit_head: notPersonal('It holds a hash.'),
  operator_reads: notPersonal('It counts towards a limit of operators, for a day.'),
  operation_calls: notPersonal('It counts calls of versions of the app.'),
  proposals: {
    isPersonal: true as const,
    rowsOf: inColumns('account_id'),
    exported: { not: 'The person is notified of what comes of it.' }
  }
}
