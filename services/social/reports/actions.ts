import { setTimeout as sleep } from 'node:timers/promises'
import { publish } from '@tandem/bus-kit'
import { addToCase, countOnDismissed, lockTarget, priorityFor, type Priority } from '@tandem/case-kit'
import { PersonReported } from '@tandem/contracts'
import { useDailyQuota, withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { ValidationError } from '@tandem/http-kit'
import { TooManyReports } from '../errors.ts'
import type { Today } from '../people/actions.ts'
import type { Db, ReportReason, TargetType, Trx } from '../tables.ts'
import { readReported, type Reported } from './evidence.ts'
import { findOpenReport, readReport, isReportedPersonBlocked, outcomesOf } from './queries.ts'

const REPORTS_PER_DAY = 20
const MAX_WAIT_MS = 500
const POLL_INTERVAL_MS = 10

/** The priority of the reports with each reason. */
const PRIORITIES: Record<ReportReason, Priority> = {
  SPAM: 1,
  HARASSMENT: 2,
  HATE: 2,
  SEXUAL: 2,
  VIOLENCE: 3,
  SELF_HARM: 3,
  CHILD_SAFETY: 3,
  IMPERSONATION: 2,
  ILLEGAL: 2,
  OTHER: 1
}

interface NewReport {
  reporterId: string
  targetType: TargetType
  targetId: string
  reason: ReportReason
  details: string | null
  /** As stored: storage keys, or URLs of other hosts. */
  evidence: string[]
  alsoBlock: boolean
}

/**
 * Reports something, and freezes it as evidence. A repeat gets the first report, as long as that is open.
 * @param today the reporter's
 * @throws TooManyReports, and the errors of reading what is reported
 */
export async function report (db: Db, report: NewReport, today: Today, idempotencyKey?: IdempotencyKey) {
  const { reporterId, targetType, targetId, alsoBlock } = report
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    // Before the row of the target, as a decision that hides it: otherwise the two at once would deadlock.
    await lockTarget(trx, { type: targetType, id: targetId })
    const { target, evidence } = await readReported[targetType](trx, targetId, reporterId)
    if (target.accountId === reporterId) throw new ValidationError('targetIdMustNotBeYourOwn', ['targetId'])
    const earlier = await findOpenReport(trx, reporterId, target)
    const current = earlier ?? await addReport(trx, report, { target, evidence }, today)
    if (!earlier || alsoBlock) {
      const { accountId: reportedId } = target
      await publish(trx, PersonReported, reportedId, { reportId: current.id, reporterId, reportedId, alsoBlock })
    }
    return current
  })
}

/** A reporter has one report in a case. They can be in it already if it was dismissed. @throws TooManyReports */
async function addReport (trx: Trx, report: NewReport, { target, evidence }: Reported, today: Today) {
  const { reporterId, reason, details } = report
  const quota = { name: 'reports', accountId: reporterId, day: today, limit: REPORTS_PER_DAY }
  if (!await useDailyQuota(trx, quota)) throw new TooManyReports()
  const caseId = await countOnDismissed(trx, target, evidence) ?? await addToCase(trx, target, {
    priority: await priorityFor(trx, PRIORITIES[reason], outcomesOf(reporterId)),
    isRestricted: reason === 'CHILD_SAFETY',
    evidence
  })
  if (report.evidence.length > 0) {
    // Until the report is there, no upload of its evidence is marked for deletion.
    await trx.selectFrom('media').where('key', 'in', report.evidence).select('key').orderBy('key').forUpdate().execute()
  }
  await trx.insertInto('reports')
    .values({ case_id: caseId, reporter_id: reporterId, reason, details, evidence: report.evidence })
    .onConflict((conflict) => conflict.columns(['case_id', 'reporter_id']).doNothing())
    .execute()
  return await readReport(trx, reporterId, caseId)
}

/**
 * Waits until FitMatch has blocked the person that was reported, so that the reporter's next request no longer sees them.
 * It waits at most half a second: the report is already committed, and the block comes as soon as FitMatch consumes it.
 */
export async function waitUntilBlocked (db: Db, reportId: string) {
  const deadline = performance.now() + MAX_WAIT_MS
  while (performance.now() < deadline && !await isReportedPersonBlocked(db, reportId)) await sleep(POLL_INTERVAL_MS)
}
