import { claimOnce, on } from '@tandem/bus-kit'
import { FitMatchDecisionApplied, SocialDecisionApplied, SuspensionChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { UserNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import { recordDecision } from './actions.ts'

/** Stores that a service has carried out a decision. The decision of an erased account is gone. */
async function confirm (db: Db, decisionId: string, service: string) {
  await db.insertInto('decision_applications')
    .columns(['decision_id', 'service'])
    .expression((rows) =>
      rows.selectFrom('decisions').where('id', '=', decisionId).select((row) => ['id', row.val(service).as('service')])
    )
    .onConflict((conflict) => conflict.doNothing()).execute()
}

export const onSocialDecisionApplied = ({ db }: Deps) =>
  on(SocialDecisionApplied, async ({ data }) => await confirm(db, data.decisionId, 'social'))

export const onFitMatchDecisionApplied = ({ db }: Deps) =>
  on(FitMatchDecisionApplied, async ({ data }) => await confirm(db, data.decisionId, 'fitmatch'))

/** A suspension without a person's decision gets a statement and can be appealed like any other. */
export const onSuspensionDecided = (deps: Deps) =>
  on(SuspensionChanged, async ({ id, time, data: { accountId, suspended, automatedCaseId } }) => {
    const { db, mailer } = deps
    if (!suspended) return await endSuspension(db, accountId, time)
    if (automatedCaseId === undefined) return
    const mail: string | undefined = await db.transaction().execute(async (trx) => {
      if (!await claimOnce(trx, id, 'automated decision')) return
      if (await isLiftedSince(trx, accountId, time)) return
      const recorded = await recordDecision(trx, deps, {
        accountId,
        case: { service: 'fitmatch', id: automatedCaseId, version: null, subjectType: 'PROFILE', excerpt: null },
        actions: [{ type: 'RESTRICT', scope: 'FITMATCH', until: null, photoId: null }],
        reason: 'REPORTS',
        statement: '',
        note: null,
        staffId: null,
        // It can arrive late, and FitMatch may have lifted it meanwhile.
        madeAt: time
      })
      return recorded.mail
    }).catch((error: unknown) => {
      // The account was erased meanwhile.
      if (!(error instanceof UserNotFound)) throw error
      return undefined
    })
    await mailer.enqueue([mail])
  })

/** Whether an event that arrived before says that FitMatch lifted a later suspension. */
async function isLiftedSince (db: Db, accountId: string, time: Date) {
  const lifted = await db.selectFrom('accounts').where('id', '=', accountId).where('suspended', '=', false)
    .where('suspension_changed_at', '>', time).select('id').executeTakeFirst()
  return lifted !== undefined
}

/** FitMatch lifted a suspension that had no end. What was decided later stays. */
async function endSuspension (db: Db, accountId: string, at: Date) {
  await db.updateTable('restrictions').set({ lifted_at: at }).where('account_id', '=', accountId)
    .where('scope', '=', 'FITMATCH').where('until', 'is', null).where('lifted_at', 'is', null)
    .where('decision_id', 'in', (decisions) => decisions.selectFrom('decisions').where('made_at', '<', at).select('id'))
    .execute()
}
