import { sql } from 'kysely'
import type { Target } from '@tandem/case-kit'
import type { Page } from '@tandem/http-kit'
import type { Db, TargetType } from '../tables.ts'

/** Reports as their author sees them: with what happened, and nothing about the decision. */
const selectReports = (db: Db, reporterId: string) =>
  db.selectFrom('reports').innerJoin('cases', 'cases.id', 'reports.case_id')
    .where('reporter_id', '=', reporterId)
    .select([
      'reports.id',
      sql<TargetType>`cases.target_type`.as('targetType'),
      'cases.target_id as targetId',
      'reports.reason',
      'reports.details',
      'reports.evidence',
      sql<'OPEN' | 'RESOLVED'>`case when cases.resolved_at is null then 'OPEN' else 'RESOLVED' end`.as('status'),
      'cases.outcome',
      'reports.created_at as createdAt',
      sql<Date | null>`greatest(cases.resolved_at, case when cases.resolved_at is not null then reports.created_at end)`
        .as('resolvedAt')
    ])

/** The reports that an account has made, newest first. */
export async function listReports (db: Db, reporterId: string, { cursor, limit }: Page) {
  return await selectReports(db, reporterId)
    .$if(cursor !== undefined, (reports) => reports.where('reports.id', '<', cursor!))
    .orderBy('reports.id', 'desc')
    .limit(limit + 1)
    .execute()
}

/** The reporter's own report in the open case of a target. */
export async function findOpenReport (db: Db, reporterId: string, { type, id }: Target) {
  return await selectReports(db, reporterId).where('target_type', '=', type).where('target_id', '=', id)
    .where('cases.resolved_at', 'is', null)
    .executeTakeFirst()
}

/** The reporter's own report in a case. */
export const readReport = async (db: Db, reporterId: string, caseId: string) =>
  await selectReports(db, reporterId).where('case_id', '=', caseId).executeTakeFirstOrThrow()

/** Whether the reporter has blocked the person that their report is about. */
export async function isReportedPersonBlocked (db: Db, reportId: string) {
  const block = await db.selectFrom('reports').innerJoin('cases', 'cases.id', 'reports.case_id')
    .innerJoin(
      'blocks',
      (join) =>
        join.onRef('blocks.account_id', '=', 'reports.reporter_id').onRef('blocks.other_id', '=', 'cases.account_id')
          .onRef('blocks.blocker_id', '=', 'reports.reporter_id')
    )
    .where('reports.id', '=', reportId).where('is_lifted', '=', false).select('blocks.other_id').executeTakeFirst()
  return block !== undefined
}

/** The outcomes of a reporter's decided reports, newest first. */
export const outcomesOf = (reporterId: string) =>
  sql`
  select outcome from reports join cases on cases.id = reports.case_id
  where reporter_id = ${reporterId} and outcome is not null order by reports.id desc`
