import { setTimeout as sleep } from 'node:timers/promises'
import { publish } from '@tandem/bus-kit'
import { addToCase, countOnDismissed, lockTarget, priorityFor } from '@tandem/case-kit'
import { PersonReported } from '@tandem/contracts'
import { useDailyQuota, withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { dayAround } from '@tandem/account-kit'
import { ValidationError } from '@tandem/http-kit'
import { TooManyReports } from '../errors.ts'
import type { Db, ReportReason, TargetType, Trx } from '../tables.ts'
import { readReported } from './evidence.ts'
import { findOpenReport, findReport, isReportedPersonBlocked, outcomesOf } from './queries.ts'
import { priorities } from './schemas.ts'

const REPORTS_PER_DAY = 20
const MAX_WAIT_MS = 500
const POLL_INTERVAL_MS = 10

export interface NewReport {
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
 * @param timezone the reporter's, whose calendar day the limit applies to
 * @throws TooManyReports, and the errors of reading what is reported
 */
export async function report (db: Db, report: NewReport, timezone: string, idempotencyKey?: IdempotencyKey) {
  const { reporterId, targetType, targetId, reason, alsoBlock } = report
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    const { target, evidence } = await readReported[targetType](trx, targetId, reporterId)
    if (target.accountId === reporterId) {
      throw new ValidationError('targetIdMustNotBeYourOwn', ['targetId'])
    }
    await lockTarget(trx, target)
    const earlier = await findOpenReport(trx, reporterId, target)
    if (!earlier) {
      await useReport(trx, reporterId, timezone)
      const caseId = await countOnDismissed(trx, target, evidence) ?? await addToCase(trx, target, {
        priority: await priorityFor(trx, priorities[reason], outcomesOf(reporterId)),
        isRestricted: reason === 'CHILD_SAFETY',
        evidence
      })
      await insertReport(trx, caseId, report)
      const created = await findReport(trx, reporterId, caseId)
      await publishReport(trx, { reportId: created.id, reporterId, reportedId: target.accountId, alsoBlock })
      return created
    }
    if (alsoBlock) {
      await publishReport(trx, { reportId: earlier.id, reporterId, reportedId: target.accountId, alsoBlock })
    }
    return earlier
  })
}

async function useReport (trx: Trx, accountId: string, timezone: string) {
  const day = dayAround(timezone, new Date())
  if (!await useDailyQuota(trx, { name: 'reports', accountId, day, limit: REPORTS_PER_DAY })) {
    throw new TooManyReports()
  }
}

/** A reporter has one report in a case. They can be in it already if it was dismissed. */
async function insertReport (trx: Trx, caseId: string, { reporterId, reason, details, evidence }: NewReport) {
  if (evidence.length > 0) {
    // Until the report is there, no upload of its evidence is marked for deletion.
    await trx.selectFrom('media').where('key', 'in', evidence).select('key').orderBy('key').forUpdate().execute()
  }
  await trx.insertInto('reports').values({ case_id: caseId, reporter_id: reporterId, reason, details, evidence })
    .onConflict((conflict) => conflict.columns(['case_id', 'reporter_id']).doNothing())
    .execute()
}

interface ReportOfPerson {
  reportId: string
  reporterId: string
  reportedId: string
  alsoBlock: boolean
}

const publishReport = async (trx: Trx, report: ReportOfPerson) =>
  await publish(trx, PersonReported, report.reportedId, report)

/**
 * Waits until FitMatch has blocked the person that was reported, so that the reporter's next request no longer sees them.
 * It waits at most half a second: the report is already committed, and the block comes as soon as FitMatch consumes it.
 */
export async function waitUntilBlocked (db: Db, reportId: string) {
  const deadline = performance.now() + MAX_WAIT_MS
  while (performance.now() < deadline && !await isReportedPersonBlocked(db, reportId)) await sleep(POLL_INTERVAL_MS)
}
