import { sql, type Kysely } from 'kysely'
import type { CaseTables, Outcome } from './tables.ts'

/**
 * What came of the report of one person, for their appeal: only they get it.
 * @returns undefined if it is not their report
 */
export async function findDecidedReport (
  db: Kysely<CaseTables>,
  { reportId, reporterId }: { reportId: string, reporterId: string }
) {
  const { rows: [found] } = await sql<{ caseId: string, decisionId: string | null, outcome: Outcome | null }>`
    select cases.id as "caseId", decision_id as "decisionId", outcome
    from reports join cases on cases.id = reports.case_id
    where reports.id = ${reportId} and reporter_id = ${reporterId}`.execute(db)
  return found
}

/** How many cases there are about a person, and how many reports they made. */
export async function countModeration (db: Kysely<CaseTables>, accountId: string) {
  const { rows: [counts] } = await sql<{
    cases: number,
    openCases: number,
    reportsMade: number,
    reportsUpheld: number
  }>`
    select
      (select count(*) from cases where account_id = ${accountId})::int as cases,
      (select count(*) from cases where account_id = ${accountId} and resolved_at is null)::int as "openCases",
      (select count(*) from reports where reporter_id = ${accountId})::int as "reportsMade",
      (select count(*) from reports join cases on cases.id = reports.case_id
        where reporter_id = ${accountId} and outcome = 'ACTION_TAKEN')::int as "reportsUpheld"`.execute(db)
  return counts!
}
