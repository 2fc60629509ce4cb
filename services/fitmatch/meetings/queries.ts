import type { Db } from '../tables.ts'

export const meetingColumns = [
  'id',
  'status',
  'ask_at as askAt',
  'alarm_at as alarmAt',
  'contact_told_at as contactToldAt',
  'contact_failed_at as contactFailedAt'
] as const

/** The caller's own meeting; they keep it if their place ends. */
export async function findOwnMeeting (db: Db, accountId: string, activityId: string) {
  return await db.selectFrom('meetings').where('activity_id', '=', activityId).where('account_id', '=', accountId)
    .select(meetingColumns).executeTakeFirst()
}

/** The ids of the armed meetings of an account. */
export async function listArmed (db: Db, accountId: string) {
  const rows = await db.selectFrom('meetings').where('account_id', '=', accountId).where('status', '=', 'ARMED')
    .select('id').execute()
  return rows.map(({ id }) => id)
}

/** Where, when and with whose company a person trains, for mails to their trusted contact. */
export async function findMeetingDetails (db: Db, meetingId: string) {
  const meeting = await db.selectFrom('meetings').innerJoin('activities', 'activities.id', 'activity_id')
    .where('meetings.id', '=', meetingId)
    .select([
      'activity_id as activityId',
      'account_id as accountId',
      'title',
      'timezone',
      'starts_at as startsAt',
      'ends_at as endsAt',
      'location_name as locationName',
      'venue'
    ])
    .executeTakeFirst()
  if (!meeting) return
  const { activityId, accountId, startsAt, endsAt, venue, ...details } = meeting
  const others = await db.selectFrom('activity_participants')
    .innerJoin('profiles', 'profiles.account_id', 'activity_participants.account_id')
    .where('activity_id', '=', activityId).where('state', '=', 'GOING')
    .where('activity_participants.account_id', '<>', accountId)
    .select('display_name as displayName').orderBy('display_name').limit(20).execute()
  return {
    ...details,
    startsAt: startsAt.toISOString(),
    endsAt: endsAt.toISOString(),
    branch: venue?.branch ?? null,
    city: venue?.city ?? null,
    latitude: venue?.latitude ?? null,
    longitude: venue?.longitude ?? null,
    companions: others.map(({ displayName }) => displayName)
  }
}
