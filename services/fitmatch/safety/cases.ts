import { sql } from 'kysely'
import { addToCase, lockTarget, priorityFor, type Priority } from '@tandem/case-kit'
import type { Outcome } from '@tandem/contracts'
import { isMediaKey } from '@tandem/media-url-kit'
import type { ReportReason, Trx } from '../tables.ts'
import type { ReportedActivity } from './reported-activity.ts'

const priorities = {
  UNDERAGE: 3,
  HARASSMENT: 2,
  INAPPROPRIATE_CONTENT: 2,
  OFFLINE_BEHAVIOR: 2,
  FAKE_PROFILE: 1,
  SPAM: 1,
  OTHER: 1
} as const satisfies Record<ReportReason, Priority>

interface NewReport {
  reporterId: string
  reportedId: string
  reason: ReportReason
  profile: Record<string, unknown>
  /** The stored photos of the profile. */
  photos: string[]
  messages: { senderId: string, imageUrl: string | null }[]
  activity: ReportedActivity | null
}

/** Adds a report to the case of the reported person. @returns the case */
export async function addReport (
  trx: Trx,
  { reporterId, reportedId, reason, profile, photos, messages, activity }: NewReport
) {
  const target = { type: 'PROFILE', id: reportedId, accountId: reportedId }
  await lockTarget(trx, target)
  const { displayName, bio, prompts } = profile
  const chatImages = messages.flatMap(({ senderId, imageUrl }) =>
    senderId === reportedId && imageUrl !== null ? [imageUrl] : []
  )
  return await addToCase(trx, target, {
    priority: await priorityFor(trx, priorities[reason], outcomesOf(reporterId)),
    isRestricted: false,
    evidence: {
      // Evidence of another activity is other evidence, so it is part of what is compared.
      content: { displayName, bio, prompts, photos: profile['photos'], ...(activity && { activity }) },
      context: { profile, messages },
      others: [reporterId, ...activity?.hostId ? [activity.hostId] : []],
      files: [...photos, ...chatImages].filter(isMediaKey)
    }
  })
}

const outcomesOf = (reporterId: string) =>
  sql`
  select case when action = 'SUSPEND' then 'ACTION_TAKEN' else 'NO_VIOLATION' end as outcome
  from reports where reporter_id = ${reporterId} and status = 'RESOLVED' order by id desc`

/** Closes the cases of which these were the last open reports. */
export async function closeDecidedCases (trx: Trx, reportIds: string[], outcome: Outcome) {
  await sql`
    update cases set resolved_at = now(), outcome = ${outcome}, version = version + 1
    where resolved_at is null and id in (select case_id from reports where id = any(${reportIds}::uuid[]))
      and not exists (select from reports where reports.case_id = cases.id and status = 'OPEN')`.execute(trx)
}
