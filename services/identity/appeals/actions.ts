import { sql } from 'kysely'
import { FitMatchReport, SocialReport, type Outcome } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { AppealClosed, AppealExists, DecisionNotFound } from '../errors.ts'
import { lockCaller, type Caller } from '../sessions/caller.ts'
import { APPEAL_DAYS } from '../decisions/queries.ts'
import type { Db } from '../tables.ts'

interface NewAppeal {
  decisionId: string
  text: string
  /** Undefined with the token of the mail. */
  caller?: Caller
}

/**
 * Appeals against a decision, once within 180 days.
 * @throws DecisionNotFound, AppealClosed, AppealExists, InvalidAccessToken
 */
export async function appeal (db: Db, { decisionId, text, caller }: NewAppeal) {
  const decision = await findAppealable(db, decisionId, 'ACTION_TAKEN')
  if (!decision || (caller && decision.accountId !== caller.accountId)) throw new DecisionNotFound()
  return await insertAppeal(db, { decision, accountId: decision.accountId, reportId: null, text, caller })
}

/**
 * Appeals that something reported was dismissed, once within 180 days. The service of the report says whose it is, and
 * what came of it.
 * @throws DecisionNotFound, AppealClosed, AppealExists, InvalidAccessToken, Unavailable
 */
export async function appealOfReport (
  { db, callRpc }: Pick<Deps, 'db' | 'callRpc'>,
  { reportId, text, caller }: { reportId: string, text: string, caller: Caller }
) {
  const { accountId } = caller
  const request = { reportId, reporterId: accountId }
  const report = await callRpc(SocialReport, request) ?? await callRpc(FitMatchReport, request)
  if (report?.outcome !== 'NO_VIOLATION' || report.decisionId === null) throw new DecisionNotFound()
  const decision = await findAppealable(db, report.decisionId, 'NO_VIOLATION')
  if (!decision) throw new DecisionNotFound()
  return await insertAppeal(db, { decision, accountId, reportId, text, caller })
}

/** Decisions never change, so this needs no lock. */
const findAppealable = async (db: Db, decisionId: string, outcome: Outcome) =>
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
  caller: Caller | undefined
}

async function insertAppeal (db: Db, { decision, accountId, reportId, text, caller }: Insertable) {
  if (decision.isClosed) throw new AppealClosed()
  return await db.transaction().execute(async (trx) => {
    if (caller) await lockCaller(trx, caller)
    const created = await trx.insertInto('appeals')
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
  })
}
