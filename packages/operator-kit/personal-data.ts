import { notPersonal } from '@tandem/account-kit'

/** The tables of this kit, for `personal-data.ts` of a service. */
export const auditTables = {
  audit_entries: notPersonal(
    'It names accounts by their ids only, and nobody may change it; months are dropped after 24.'
  ),
  audit_head: notPersonal('It holds a hash.')
}
