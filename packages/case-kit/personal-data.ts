import { sql, type RawBuilder, type SqlBool, type Transaction } from 'kysely'
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
export const markCasesOf = async (trx: Transaction<CaseTables>, accountId: string) =>
  await markPurged(trx, sql`account_id = ${accountId}::uuid order by id`)

const exported = { not: 'It is evidence; the person is notified of each decision.' }

const isWithPartOf = (accountId: string) => sql<SqlBool>`others @> array[${accountId}::uuid]`

/**
 * The tables of this kit, for `personal-data.ts` of a service.
 * @param without the `content` of evidence about somebody else without what the account wrote or planned: an expression
 *   of type jsonb
 */
export const caseTables = (without: (accountId: string) => RawBuilder<object>) => ({
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
    // A union, so that each half has its index.
    rowsOf: (accountId: string) =>
      sql<SqlBool>`id in (select id from case_evidence where ${ofCases(accountId)}
        union all select id from case_evidence where ${isWithPartOf(accountId)})`,
    async erase (trx: Transaction<CaseTables>, accountId: string, limit: number) {
      const { numAffectedRows: changed = 0n } = await sql`
        update case_evidence set content = ${without(accountId)}, others = array_remove(others, ${accountId}::uuid)
        where id in (select id from case_evidence where ${isWithPartOf(accountId)} limit ${sql.lit(limit)})`
        .execute(trx)
      const { numAffectedRows: deleted = 0n } = await sql`
        delete from case_evidence where id in (
          select id from case_evidence where ${ofCases(accountId)} and not ${ofCases(accountId, isCaseKept)}
          limit ${sql.lit(limit - Number(changed))})`.execute(trx)
      return Number(changed + deleted)
    },
    keeps: { ...keeps, rows: (accountId: string) => ofCases(accountId, isCaseKept) },
    exported
  },
  cases: {
    isPersonal: true as const,
    rowsOf: inColumns('account_id'),
    keeps: { ...keeps, rows: () => isCaseKept },
    exported
  }
})
