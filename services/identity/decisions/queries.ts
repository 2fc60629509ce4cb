import { sql } from 'kysely'
import type { Db } from '../tables.ts'

export const APPEAL_DAYS = 180
const STRIKES_COUNT_FOR = '180 days'
const MAX_DECISIONS = 50

/** How many strikes count against a row of `accounts`. */
export const strikesCount = sql<number>`(select count(*) from strikes where account_id = accounts.id
  and removed_at is null and created_at > now() - ${STRIKES_COUNT_FOR}::interval)`

/** How an account stands with the rules, as its owner sees it. The operator and dismissals are left out. */
export async function readStanding (db: Db, accountId: string) {
  const { rows: [account] } = await sql<{ isBanned: boolean, strikes: number }>`
    select banned_at is not null as "isBanned", ${strikesCount} as strikes from accounts where id = ${accountId}`
    .execute(db)
  const restrictions = await db.selectFrom('restrictions').where('account_id', '=', accountId)
    .where('lifted_at', 'is', null)
    .where((row) => row.or([row('until', 'is', null), row('until', '>', sql<Date>`now()`)]))
    .select(['scope', 'until']).orderBy('id').execute()
  const status = account?.isBanned
    ? 'BANNED' as const
    : restrictions.length > 0
    ? 'RESTRICTED' as const
    : account && account.strikes > 0
    ? 'WARNED' as const
    : 'GOOD' as const
  return { status, restrictions, decisions: await listDecisions(db, accountId) }
}

async function listDecisions (db: Db, accountId: string) {
  const rows = await selectDecisions(db).where('decisions.account_id', '=', accountId)
    .where(sql<boolean>`not (decisions.actions @> '[{"type": "DISMISS"}]')`)
    .orderBy('decisions.id', 'desc').limit(MAX_DECISIONS).execute()
  return rows.map(({ appealId, appealText, appealStatus, answer, appealedAt, decidedAt, ...row }) => ({
    id: row.id,
    actions: row.actions.map(({ type, scope, until }) => ({ type, scope, until })),
    reason: row.reason,
    statement: row.statement,
    subject: { type: row.subjectType, excerpt: row.excerpt },
    automated: row.isAutomated,
    madeAt: row.madeAt,
    appealableUntil: row.appealableUntil,
    appeal: appealId !== null && appealText !== null && appealStatus !== null && appealedAt !== null
      ? {
        id: appealId,
        decisionId: row.id,
        text: appealText,
        status: appealStatus,
        answer,
        createdAt: appealedAt,
        decidedAt
      }
      : null
  }))
}

const selectDecisions = (db: Db) =>
  db.selectFrom('decisions').leftJoin(
    'appeals',
    (appeal) => appeal.onRef('appeals.decision_id', '=', 'decisions.id').on('appeals.report_id', 'is', null)
  ).select([
    'decisions.id',
    'decisions.actions',
    'decisions.outcome',
    'decisions.reason',
    'decisions.statement',
    'decisions.subject_type as subjectType',
    'decisions.excerpt',
    'decisions.is_automated as isAutomated',
    'decisions.made_at as madeAt',
    sql<Date>`decisions.made_at + make_interval(days => ${APPEAL_DAYS})`.as('appealableUntil'),
    'appeals.id as appealId',
    'appeals.text as appealText',
    'appeals.status as appealStatus',
    'appeals.answer',
    'appeals.created_at as appealedAt',
    'appeals.decided_at as decidedAt'
  ])

/** The decisions about an account for operators, newest first, each with the services that have not applied it yet. */
export async function listDecisionsForOperators (db: Db, accountId: string) {
  return await db.selectFrom('decisions').where('account_id', '=', accountId)
    .select([
      'id',
      'case_service as caseService',
      'case_id as caseId',
      'case_version as caseVersion',
      'actions',
      'outcome',
      'reason',
      'statement',
      'note',
      'is_automated as isAutomated',
      'staff_id as staffId',
      'confirmed_by as confirmedBy',
      'reverses',
      'made_at as madeAt',
      sql<string[]>`array(select service from unnest(array['social', 'fitmatch']) as service
        where not exists (select from decision_applications
          where decision_id = decisions.id and decision_applications.service = service))`.as('awaits')
    ])
    .orderBy('id', 'desc').limit(MAX_DECISIONS).execute()
}
