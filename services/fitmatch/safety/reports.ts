import { hasTombstone, isNotHidden } from '@tandem/account-kit'
import { publish } from '@tandem/bus-kit'
import { DEFAULT_TIMEZONE, ReportResolved, type Outcome } from '@tandem/contracts'
import { sql } from 'kysely'
import { Counter } from 'prom-client'
import { useDailyQuota, withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { Forbidden, paginate, ValidationError, type Page } from '@tandem/http-kit'
import { ProfileNotFound, ReportNotFound, TooManyReports } from '../errors.ts'
import { lockPair, pairOf } from '../people/pairs.ts'
import { auditDecision, type Operator } from '../operators.ts'
import { lockMember } from '../people/actions.ts'
import { hasNotBlocked, haveMet, wereMatched } from '../people/visibility.ts'
import { findOwnProfile } from '../profiles/queries.ts'
import { todayIn } from '../today.ts'
import { reportReasons, type Db, type ReportAction, type ReportReason, type ReportStatus, type Trx } from '../tables.ts'
import { block } from './blocks.ts'
import { addReport, closeDecidedCases } from './cases.ts'
import { copyActivity } from './reported-activity.ts'
import { setSuspended, suspendIfDue } from './suspensions.ts'

const reportsTotal = new Counter({
  name: 'fitmatch_reports_total',
  help: 'Reports of people, by reason',
  labelNames: ['reason'] as const
})
// Prometheus can only compute a rate if the counter exists before the first report.
for (const reason of reportReasons) reportsTotal.inc({ reason }, 0)

const REPORTS_PER_DAY = 10
const MAX_COPIED_MESSAGES = 50

interface Report {
  reportedProfileId: string
  reason: ReportReason
  details: string | null
  evidence: string[]
  /** Where it happened. */
  activityId: string | null
}

/** Reports a profile and blocks its owner. */
export async function reportProfile (
  db: Db,
  reporterId: string,
  report: Report,
  idempotencyKey?: IdempotencyKey
) {
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    const { accountId: reportedId, displayName } = await findReportable(trx, reporterId, report.reportedProfileId)
    if (reportedId === reporterId) {
      throw new ValidationError('reportedProfileIdMustNotBeYourOwn', ['reportedProfileId'])
    }
    await lockPair(trx, reporterId, reportedId)
    await countReport(trx, reporterId, reportedId)
    const inserted = await insertReport(trx, reporterId, reportedId, report)
    reportsTotal.inc({ reason: report.reason })
    // Before the block, because it locks more activities: always in the same order.
    await suspendIfDue(trx, reportedId)
    await block(trx, {
      blockerId: reporterId,
      blockedId: reportedId,
      profileId: report.reportedProfileId,
      displayName,
      reason: report.reason
    })
    return inserted
  })
}

/**
 * Locks both members, so that concurrent reports are counted one after the other and the reporter's verification cannot
 * change meanwhile.
 * @throws TooManyReports
 */
async function countReport (trx: Trx, reporterId: string, reportedId: string) {
  // Locked in a fixed order, or people who report each other in a ring could deadlock.
  const members = new Map<string, Awaited<ReturnType<typeof lockMember>>>()
  for (const accountId of [reporterId, reportedId].sort()) members.set(accountId, await lockMember(trx, accountId))
  const day = todayIn(members.get(reporterId)?.timezone ?? DEFAULT_TIMEZONE)
  if (!await useDailyQuota(trx, { name: 'reports', accountId: reporterId, day, limit: REPORTS_PER_DAY })) {
    throw new TooManyReports()
  }
}

/** A report stores a copy of the profile, of the last messages between the two, and of the activity. */
async function insertReport (
  trx: Trx,
  reporterId: string,
  reportedId: string,
  { reportedProfileId, reason, details, evidence, activityId }: Report
) {
  const activity = activityId === null ? null : await copyActivity(trx, { activityId, reporterId, reportedId })
  const { profile, photos } = await copyProfile(trx, reportedId, reportedProfileId)
  const messages = await listLastMessages(trx, reporterId, reportedId)
  const caseId = await addReport(trx, { reporterId, reportedId, reason, profile, photos, messages, activity })
  return await trx.insertInto('reports')
    .values({
      reporter_id: reporterId,
      reported_id: reportedId,
      profile_id: reportedProfileId,
      case_id: caseId,
      reason,
      details,
      evidence,
      profile: JSON.stringify(profile),
      messages: JSON.stringify(messages),
      activity_id: activityId,
      activity: activity && JSON.stringify(activity)
    })
    .returning(ownReportColumns)
    .executeTakeFirstOrThrow()
}

// What came of a report, without saying what was done.
const state = sql<'OPEN' | Outcome>`case when status = 'OPEN' then 'OPEN'
  when action = 'SUSPEND' then 'ACTION_TAKEN' else 'NO_VIOLATION' end`

const ownReportColumns = [
  'id',
  'profile_id as reportedProfileId',
  'reason',
  'details',
  'evidence',
  'activity_id as activityId',
  'status',
  state.as('state'),
  sql<Outcome | null>`nullif(${state}, 'OPEN')`.as('outcome'),
  'created_at as createdAt'
] as const

/**
 * A profile that the reporter can report: any, paused or suspended too, whose owner has not blocked them and is not
 * hidden; and that of anybody they were matched with or met at an activity, even if that person blocked them first, has
 * deleted the profile since, or is hidden: leaving does not protect from a report.
 */
async function findReportable (trx: Trx, reporterId: string, profileId: string) {
  const columns = ['account_id as accountId', 'display_name as displayName'] as const
  const owner = sql.ref<string>('profiles.account_id')
  const isKnown = sql<boolean>`(${wereMatched(reporterId)} or ${haveMet(reporterId, owner)})`
  const found = await trx.selectFrom('profiles').where('id', '=', profileId)
    .where(sql<boolean>`(${hasNotBlocked(reporterId)} and ${isNotHidden(owner)} or ${isKnown})`)
    .select(columns).executeTakeFirst() ??
    await trx.selectFrom('deleted_profiles as profiles').where('id', '=', profileId).where(isKnown)
      .select(columns).executeTakeFirst()
  if (!found) throw new ProfileNotFound()
  return found
}

/** The profile as it is now, or as it was when it was deleted. */
async function copyProfile (trx: Trx, accountId: string, profileId: string) {
  const profile = await findOwnProfile(trx, accountId)
  if (profile?.id === profileId) {
    const uploads = await trx.selectFrom('photos').where('profile_id', '=', profileId).where('uploaded', '=', true)
      .select('url').execute()
    return { profile, photos: uploads.map(({ url }) => url) }
  }
  const deleted = await trx.selectFrom('deleted_profiles').where('id', '=', profileId).select([
    'profile',
    'photo_urls as photos'
  ]).executeTakeFirst()
  if (!deleted) throw new ProfileNotFound()
  return deleted
}

async function listLastMessages (trx: Trx, one: string, other: string) {
  const { low_id: lowId, high_id: highId } = pairOf(one, other)
  const rows = await trx.selectFrom('messages')
    .where(
      'match_id',
      'in',
      (messages) =>
        messages.selectFrom('matches').where('low_id', '=', lowId).where('high_id', '=', highId).select('matches.id')
    )
    .select([
      'messages.id',
      'sender_id as senderId',
      'content',
      'image_url as imageUrl',
      'messages.created_at as createdAt'
    ])
    .orderBy('messages.created_at', 'desc')
    .limit(MAX_COPIED_MESSAGES)
    .execute()
  return rows.reverse()
}

/** The reports an account has made, most recent first. */
export async function listOwnReports (db: Db, reporterId: string) {
  return await db.selectFrom('reports').where('reporter_id', '=', reporterId).select(ownReportColumns).orderBy(
    'id',
    'desc'
  ).limit(100).execute()
}

const isAfter = (cursor: string) =>
  sql<boolean>`(not is_urgent, id) > (select not is_urgent, id from reports where id = ${cursor})`

/** Reports for operators: those about minors first, then the oldest first. */
export async function listReports (db: Db, { status, limit, cursor }: Page & { status: ReportStatus }) {
  const rows = await db.selectFrom('reports').where('status', '=', status)
    .$if(cursor !== undefined, (query) => query.where(isAfter(cursor ?? '')))
    .select([
      'id',
      'reporter_id as reporterId',
      'reported_id as reportedId',
      'profile_id as reportedProfileId',
      'reason',
      'details',
      'evidence',
      'profile',
      'messages',
      'activity',
      sql<Record<string, string> | null>`(select jsonb_object_agg(source, copy) from case_files
        where case_files.case_id = reports.case_id and copied_at is not null)`.as('copies'),
      'status',
      'action',
      'note',
      'created_at as createdAt',
      'resolved_at as resolvedAt'
    ])
    .orderBy('is_urgent', 'desc').orderBy('id')
    .limit(limit + 1)
    .execute()
  const { page: reports, nextCursor } = paginate(rows, limit, ({ id }) => id)
  return { reports, nextCursor }
}

/**
 * Applies an operator's decision on a report. RESTORE resolves all open reports against the person, or the next report
 * would suspend them again. A report can be resolved more than once; every decision is in the audit log.
 */
export async function resolveReport (
  db: Db,
  operator: Operator,
  reportId: string,
  { action, note }: { action: ReportAction, note: string | null }
) {
  await db.transaction().execute(async (trx) => {
    const report = await trx.selectFrom('reports').where('id', '=', reportId).select(['reported_id']).executeTakeFirst()
    if (!report) throw new ReportNotFound()
    const accountId = report.reported_id
    // Nobody decides about themselves.
    if (accountId === operator.accountId) throw new Forbidden()
    // Evidence outlives its account. A new row for it would never be erased.
    const isErased = await hasTombstone(trx, accountId)
    if (!isErased) await lockMember(trx, accountId)
    const resolved = await trx.updateTable('reports')
      .set({ status: 'RESOLVED', action, note, resolved_at: sql`now()` })
      .where((eb) =>
        eb.or([
          eb('id', '=', reportId),
          ...(action === 'RESTORE' ? [eb.and([eb('reported_id', '=', accountId), eb('status', '=', 'OPEN')])] : [])
        ])
      )
      .returning(['id', 'reporter_id'])
      .execute()
    if (action !== 'DISMISS' && !isErased) await setSuspended(trx, accountId, action === 'SUSPEND')
    await auditDecision(trx, operator, { action: `REPORT_${action}`, subjectId: reportId, accountId, note })
    await closeDecidedCases(
      trx,
      resolved.map(({ id }) => id),
      action === 'SUSPEND' ? 'ACTION_TAKEN' : 'NO_VIOLATION'
    )
    for (const { id, reporter_id } of resolved) {
      await publish(trx, ReportResolved, id, { reportId: id, reporterId: reporter_id, action })
    }
  })
}
