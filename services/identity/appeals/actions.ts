import { sql } from 'kysely'
import { FitMatchReport, SocialReport } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { AppealClosed, AppealExists, DecisionNotFound } from '../errors.ts'
import { APPEAL_DAYS } from '../standing/queries.ts'
import type { Db } from '../tables.ts'

interface NewAppeal {
  decisionId: string
  text: string
  /** Undefined with the token of the mail. */
  accountId?: string | undefined
}

/** Appeals against a decision, once within 180 days. @throws DecisionNotFound, AppealClosed, AppealExists */
export async function appeal (db: Db, { decisionId, text, accountId }: NewAppeal) {
  const decision = await findAppealable(db, decisionId, 'ACTION_TAKEN')
  if (!decision || (accountId !== undefined && decision.accountId !== accountId)) throw new DecisionNotFound()
  return await insertAppeal(db, { decision, accountId: decision.accountId, reportId: null, text })
}

/**
 * Appeals that something reported was dismissed, once within 180 days. The service of the report says whose it is, and
 * what came of it.
 * @throws DecisionNotFound, AppealClosed, AppealExists, Unavailable
 */
export async function appealOfReport (
  { db, callRpc }: Pick<Deps, 'db' | 'callRpc'>,
  { reportId, accountId, text }: { reportId: string, accountId: string, text: string }
) {
  const request = { reportId, reporterId: accountId }
  const report = await callRpc(SocialReport, request) ?? await callRpc(FitMatchReport, request)
  if (report?.outcome !== 'NO_VIOLATION' || report.decisionId === null) throw new DecisionNotFound()
  const decision = await findAppealable(db, report.decisionId, 'NO_VIOLATION')
  if (!decision) throw new DecisionNotFound()
  return await insertAppeal(db, { decision, accountId, reportId, text })
}

/** Decisions never change, so this needs no lock. */
const findAppealable = async (db: Db, decisionId: string, outcome: 'ACTION_TAKEN' | 'NO_VIOLATION') =>
  await db.selectFrom('decisions').where('id', '=', decisionId).where('outcome', '=', outcome)
    .select([
      'id',
      'account_id as accountId',
      sql<boolean>`made_at < now() - make_interval(days => ${APPEAL_DAYS})`.as('isClosed')
    ]).executeTakeFirst()

interface Insertable {
  decision: { id: string, isClosed: boolean }
  accountId: string
  reportId: string | null
  text: string
}

async function insertAppeal (db: Db, { decision, accountId, reportId, text }: Insertable) {
  if (decision.isClosed) throw new AppealClosed()
  const created = await db.insertInto('appeals')
    .values({ decision_id: decision.id, account_id: accountId, report_id: reportId, text })
    .onConflict((conflict) => conflict.doNothing())
    .returning([
      'id',
      'decision_id as decisionId',
      'text',
      'status',
      'answer',
      'created_at as createdAt',
      'decided_at as decidedAt'
    ])
    .executeTakeFirst()
  if (!created) throw new AppealExists()
  return created
}
