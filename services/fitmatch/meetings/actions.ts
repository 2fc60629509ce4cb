import { publish } from '@tandem/bus-kit'
import { MeetingCleared, MeetingFinished, MeetingShared, TrustedContactStatus } from '@tandem/contracts'
import { useDailyQuota } from '@tandem/database-kit'
import type { Deps } from '../deps.ts'
import { ActivityNotFound, ActivityOver, MeetingNotFound, NoTrustedContact, TooManyMeetings } from '../errors.ts'
import { readAdult, type Caller } from '../people/queries.ts'
import { todayIn } from '../today.ts'
import type { Db, Trx } from '../tables.ts'
import { meetingColumns } from './queries.ts'

const MEETINGS_PER_DAY = 10
const MINUTE_MS = 60_000

interface Arming {
  accountId: string
  activityId: string
  minutes: number
}

/**
 * Lets the trusted contact know of an activity that the caller goes to: at once, and again if the caller has not
 * reported back in time. Nobody else learns of it. A repeat changes only the minutes.
 */
export async function armMeeting (deps: Deps, { accountId, activityId, minutes }: Arming) {
  const { db, callRpc, now } = deps
  const me = await readAdult(deps, accountId)
  if (await callRpc(TrustedContactStatus, { accountId }) !== 'CONFIRMED') throw new NoTrustedContact()
  return await db.transaction().execute(async (trx) => {
    const endsAt = await lockEnd(trx, { accountId, activityId, now: now() })
    const times = timesOf(endsAt, minutes)
    const current = await findMeeting(trx, accountId, activityId)
    if (current?.status === 'ALARMED') return current
    if (current?.status === 'ARMED') {
      return await trx.updateTable('meetings').set({ minutes, ...times }).where('id', '=', current.id)
        .returning(meetingColumns).executeTakeFirstOrThrow()
    }
    if (!await useMeeting(trx, accountId, me.timezone)) throw new TooManyMeetings()
    if (current) await trx.deleteFrom('meetings').where('id', '=', current.id).execute()
    const meeting = await trx.insertInto('meetings')
      .values({ account_id: accountId, activity_id: activityId, minutes, ...times })
      .returning(meetingColumns)
      .executeTakeFirstOrThrow()
    await publish(trx, MeetingShared, meeting.id, { meetingId: meeting.id, activityId, accountId })
    return meeting
  })
}

/**
 * Mails the trusted contact again, if the caller's meeting is armed: the activity has moved to another place or time.
 * It counts as one of the day's meetings. After these, the contact gets no further mail of this kind.
 */
export async function shareMoved (
  trx: Trx,
  { accountId, timezone }: Pick<Caller, 'accountId' | 'timezone'>,
  { activityId, version }: { activityId: string, version: number }
) {
  const meeting = await findMeeting(trx, accountId, activityId)
  if (meeting?.status !== 'ARMED' || !await useMeeting(trx, accountId, timezone)) return
  await publish(trx, MeetingShared, meeting.id, { meetingId: meeting.id, activityId, accountId, version })
}

/** Uses one of the day's meetings. @returns false if there is none left */
async function useMeeting (trx: Trx, accountId: string, timezone: string) {
  const quota = { name: 'meetings', accountId, day: todayIn(timezone), limit: MEETINGS_PER_DAY }
  return await useDailyQuota(trx, quota) !== undefined
}

interface OwnPlace {
  accountId: string
  activityId: string
  now: Date
}

/**
 * Returns the end of an activity that the caller goes to. It cannot move until the end of the transaction, and the
 * caller's own requests for it run one after the other.
 * @throws ActivityNotFound, ActivityOver
 */
async function lockEnd (trx: Trx, { accountId, activityId, now }: OwnPlace) {
  const activity = await trx.selectFrom('activities').where('activities.id', '=', activityId)
    .select(['status', 'ends_at as endsAt']).forShare().executeTakeFirst()
  const place = await trx.selectFrom('activity_participants').where('activity_id', '=', activityId)
    .where('account_id', '=', accountId).where('state', '=', 'GOING').select('state').forUpdate().executeTakeFirst()
  if (!activity || !place) throw new ActivityNotFound()
  if (activity.status !== 'PLANNED' || activity.endsAt <= now) throw new ActivityOver()
  return activity.endsAt
}

async function findMeeting (trx: Trx, accountId: string, activityId: string) {
  return await trx.selectFrom('meetings').where('activity_id', '=', activityId).where('account_id', '=', accountId)
    .select(meetingColumns).forUpdate().executeTakeFirst()
}

/**
 * The caller is well. Before the alarm there is none; after it the contact gets the all-clear. The alarm locks the same
 * row, so one of the two comes first.
 * @throws MeetingNotFound
 */
export async function reportSafe (db: Db, accountId: string, activityId: string) {
  return await db.transaction().execute(async (trx) => {
    const meeting = await findMeeting(trx, accountId, activityId)
    if (!meeting) throw new MeetingNotFound()
    if (meeting.status === 'SAFE') return meeting
    const event = { meetingId: meeting.id, activityId, accountId }
    if (meeting.status === 'ALARMED') await publish(trx, MeetingCleared, meeting.id, event)
    await publish(trx, MeetingFinished, meeting.id, event)
    return await trx.updateTable('meetings').set({ status: 'SAFE', due_at: null }).where('id', '=', meeting.id)
      .returning(meetingColumns).executeTakeFirstOrThrow()
  })
}

/** When the person is asked, and when the contact is notified, after the end of an activity. */
function timesOf (endsAt: Date, minutes: number) {
  const askAt = new Date(endsAt.getTime() + minutes / 2 * MINUTE_MS)
  return { ask_at: askAt, alarm_at: new Date(endsAt.getTime() + minutes * MINUTE_MS), due_at: askAt }
}

/** Moves armed meetings with the end of their activity. Call it under the activity's lock. */
export async function moveMeetings (trx: Trx, activityId: string, endsAt: Date) {
  const armed = await trx.selectFrom('meetings').where('activity_id', '=', activityId).where('status', '=', 'ARMED')
    .select(['id', 'minutes']).forUpdate().execute()
  for (const { id, minutes } of armed) {
    await trx.updateTable('meetings').set(timesOf(endsAt, minutes)).where('id', '=', id).execute()
  }
}
