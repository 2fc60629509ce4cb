import { sql, type SqlBool, type Transaction } from 'kysely'
import { inColumns } from '@tandem/account-kit'
import { isCaseKept, markPurged } from './files.ts'
import type { CaseTables } from './tables.ts'

const keeps = {
  why: 'Reports about the person are evidence, also against a new account of theirs.',
  until: '180 days after the last decision, or the end of a hold'
}
const ofCases = (accountId: string, condition = sql<SqlBool>`true`) =>
  sql<SqlBool>`case_id in (select id from cases where account_id = ${accountId}::uuid and ${condition})`

/** Decides which cases of an account stay, before anything of them is erased: for `before` of the first such table. */
export const markCasesOf = async <Tables extends CaseTables>(trx: Transaction<Tables>, accountId: string) =>
  await markPurged(trx, sql`account_id = ${accountId}::uuid order by id`)

const exported = { not: 'It is evidence; the person is notified of each decision.' }

/** The tables of this kit, for `personal-data.ts` of a service. */
export const caseTables = {
  case_files: {
    isPersonal: true as const,
    rowsOf: (accountId: string) => ofCases(accountId),
    before: markCasesOf,
    files: sql<string[]>`array[copy]`,
    keeps: { ...keeps, rows: (accountId: string) => ofCases(accountId, isCaseKept) },
    exported
  },
  case_evidence: {
    isPersonal: true as const,
    rowsOf: (accountId: string) => ofCases(accountId),
    keeps: { ...keeps, rows: (accountId: string) => ofCases(accountId, isCaseKept) },
    exported
  },
  cases: {
    isPersonal: true as const,
    rowsOf: inColumns('account_id'),
    keeps: { ...keeps, rows: () => isCaseKept },
    exported
  }
}
