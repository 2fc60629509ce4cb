import { sql } from 'kysely'
import type { Db } from '../tables.ts'

/** The open appeals, those due first on top. Operators do not learn who reported. */
export const listAppeals = async (db: Db) =>
  await db.selectFrom('appeals').innerJoin('decisions', 'decisions.id', 'decision_id')
    .where('appeals.status', '=', 'OPEN')
    .select([
      'appeals.id',
      'appeals.decision_id as decisionId',
      'decisions.account_id as accountId',
      sql<boolean>`appeals.report_id is not null`.as('isByReporter'),
      'appeals.text',
      'appeals.due_at as dueAt',
      'appeals.created_at as createdAt',
      'decisions.case_service as caseService',
      'decisions.case_id as caseId',
      'decisions.actions',
      'decisions.reason',
      'decisions.statement',
      'decisions.subject_type as subjectType',
      'decisions.excerpt',
      'decisions.staff_id as decidedBy'
    ])
    .orderBy('due_at').limit(100).execute()
