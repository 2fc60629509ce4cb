import { sql } from 'kysely'
import { canSeeActivity } from '../activities/visibility.ts'
import { ActivityNotFound } from '../errors.ts'
import { havingBeenIn } from '../people/visibility.ts'
import type { ParticipantState, Trx } from '../tables.ts'

/** An activity as it was when something that happened at it was reported. People are named by their part in it. */
export interface ReportedActivity {
  title: string
  sport: string
  date: string
  startTime: string
  endTime: string
  timezone: string
  locationName: string | null
  venue: unknown
  note: string | null
  visibility: string
  status: string
  /** Null: another person. */
  hostedBy: 'REPORTER' | 'REPORTED' | null
  /** Of another person, so that what they planned goes once they are erased. */
  hostId: string | null
  reporter: Part | null
  reported: Part
}
interface Part {
  state: ParticipantState
  checkedInAt: string | null
}

/**
 * Copies an activity as evidence. A host names people they invited, and people who asked. Guests name the host and each
 * other, also after one of them has left. People who only see an open activity name its host.
 * @throws ActivityNotFound
 */
export async function copyActivity (
  trx: Trx,
  { activityId, reporterId, reportedId }: { activityId: string, reporterId: string, reportedId: string }
): Promise<ReportedActivity> {
  const { rows: [activity] } = await sql<ReportedActivity>`
    select title, sport, date::text as date, to_char(start_time, 'HH24:MI') as "startTime",
      to_char(end_time, 'HH24:MI') as "endTime", timezone, location_name as "locationName", venue, note, visibility,
      case when status = 'PLANNED' and ends_at <= now() then 'FINISHED' else status end as status,
      case host_id when ${reporterId} then 'REPORTER' when ${reportedId} then 'REPORTED' end as "hostedBy",
      case when host_id not in (${reporterId}, ${reportedId}) then host_id end as "hostId",
      case when reporter.state is not null
        then jsonb_build_object('state', reporter.state, 'checkedInAt', reporter.checked_in_at) end as reporter,
      jsonb_build_object('state', reported.state, 'checkedInAt', reported.checked_in_at) as reported
    from activities
    join activity_participants reported on reported.activity_id = activities.id and reported.account_id = ${reportedId}
    left join activity_participants reporter
      on reporter.activity_id = activities.id and reporter.account_id = ${reporterId}
    where activities.id = ${activityId} and (
      host_id = ${reporterId}
      or reporter.state = any(${havingBeenIn}::text[]) and reported.state = any(${havingBeenIn}::text[])
      or host_id = ${reportedId} and (reporter.state is not null or ${canSeeActivity(reporterId, new Date())}))`
    .execute(trx)
  if (!activity) throw new ActivityNotFound()
  return activity
}
